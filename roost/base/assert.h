// The project's only macros: an invariant that is always checked, and one checked in debug builds.
//
// They are for broken invariants, never for bad input or for expected outcomes, which are values.
//
// The other headers come to this one early, so that it can refuse an older language by a sentence.
#pragma once

#if __cplusplus < 202002L
#error "Roost's C++ headers need C++20: compile with -std=c++20 or later"
#endif

namespace roost {

// Ends the process with the place and text of the broken invariant on standard error.
[[noreturn]] void assertion_failed(const char* text, const char* file, int line);

}  // namespace roost

#define ROOST_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::roost::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define ROOST_DEBUG_ASSERT(condition) static_cast<void>(sizeof(condition))
#else
#define ROOST_DEBUG_ASSERT(condition) ROOST_ASSERT(condition)
#endif

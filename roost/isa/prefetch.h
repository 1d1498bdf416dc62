// Prefetch of one cache line for reading.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace roost {

// Where the line is to go: into every cache level; only down to the second, which can wait for more
// lines at a time than the first; or past those that it would not stay in.
enum class PrefetchHint : uint8_t { kT0, kT1, kNta };

inline constexpr std::array kPrefetchHints = {PrefetchHint::kT0, PrefetchHint::kT1,
                                              PrefetchHint::kNta};

// As in reports and on command lines: "T0", "T1", "NTA".
[[nodiscard]] constexpr std::string_view hint_name(PrefetchHint hint) {
  constexpr std::array<std::string_view, kPrefetchHints.size()> kNames = {"T0", "T1", "NTA"};
  return kNames[static_cast<size_t>(hint)];
}

// Inlined by command, like whatever else does nothing but prefetch: GCC takes such a function for
// one without effect and drops calls of it.
//
// A hint that is known when the program is compiled leaves one instruction, any other one branches
// that are always taken the same way.
[[gnu::always_inline]] inline void prefetch(PrefetchHint hint, const void* address) {
  if (hint == PrefetchHint::kT0) {
    __builtin_prefetch(address, 0, 3);
  } else if (hint == PrefetchHint::kT1) {
    __builtin_prefetch(address, 0, 2);
  } else {
    __builtin_prefetch(address, 0, 0);
  }
}

}  // namespace roost

// How the lines of a ceiling or an oracle are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::lab {

// Which cache levels a prefetched line goes to: all, all but the first, or past them.
enum class LineHint : uint8_t { kT0, kT1, kNta };

// Inlined by command: GCC takes a function that only prefetches for one without effect.
template <LineHint kHint>
[[gnu::always_inline]] inline void ask_for(const std::byte* line) {
  if constexpr (kHint == LineHint::kT0) __builtin_prefetch(line, 0, 3);
  if constexpr (kHint == LineHint::kT1) __builtin_prefetch(line, 0, 2);
  if constexpr (kHint == LineHint::kNta) __builtin_prefetch(line, 0, 0);
}

}  // namespace roost::lab

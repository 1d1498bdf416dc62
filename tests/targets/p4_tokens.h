// Words, numbers and signs of P4-16 text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roost::targets {

// Without comments and what is for the preprocessor. Names with points are one word.
[[nodiscard]] std::vector<std::string> p4_tokens(std::string_view text);

// "0x1f" or "31".
[[nodiscard]] std::optional<uint64_t> p4_number(std::string_view word);
[[nodiscard]] constexpr uint64_t p4_mask(unsigned bits) { return ~uint64_t{0} >> (64 - bits); }

}  // namespace roost::targets

// Text of a file, escaped for messages: a file must not control the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roost::config {

// Control characters, which a terminal would obey, in hexadecimal.
[[nodiscard]] std::string printable(std::string_view text);

// In quotes, printable, and not too long.
[[nodiscard]] std::string in_quotes(std::string_view text);

// A number as messages write it: digits in groups of three.
[[nodiscard]] std::string grouped(uint64_t number);

}  // namespace roost::config

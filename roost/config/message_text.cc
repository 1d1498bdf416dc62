#include "roost/config/message_text.h"

#include <fmt/format.h>

namespace roost::config {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kBytesMax = 60;
  if (text.size() <= kBytesMax) return '"' + printable(text) + '"';
  // Not in the middle of a character of UTF-8.
  size_t end = kBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return '"' + printable(text.substr(0, end)) + "...\"";
}

std::string grouped(uint64_t number) {
  std::string out = std::to_string(number);
  for (size_t from_end = 3; from_end < out.size(); from_end += 4) {
    out.insert(out.size() - from_end, ",");
  }
  return out;
}

}  // namespace roost::config

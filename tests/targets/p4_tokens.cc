#include "tests/targets/p4_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace roost::targets {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

}  // namespace

std::vector<std::string> p4_tokens(std::string_view text) {
  constexpr std::array<std::string_view, 5> kPairs = {"==", "!=", "<<", ">>", "=>"};
  std::vector<std::string> tokens;
  for (size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    } else if (text[at] == '#' || text.substr(at, 2) == "//") {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (is_word(text[at])) {
      const size_t first = at;
      while (at < text.size() && is_word(text[at])) ++at;
      tokens.emplace_back(text.substr(first, at - first));
    } else {
      const bool is_pair =
          std::find(kPairs.begin(), kPairs.end(), text.substr(at, 2)) != kPairs.end();
      tokens.emplace_back(text.substr(at, is_pair ? 2 : 1));
      at += is_pair ? 2 : 1;
    }
  }
  return tokens;
}

std::optional<uint64_t> p4_number(std::string_view word) {
  const bool is_hex = word.starts_with("0x");
  if (is_hex) word.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), number, is_hex ? 16 : 10);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

}  // namespace roost::targets

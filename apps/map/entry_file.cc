#include "apps/map/entry_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "roost/config/fault.h"
#include "roost/config/message_text.h"
#include "roost/memory/whole_file.h"
#include "roost/net/address.h"

namespace roost::map {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr size_t kFaultsListed = 10;

// The words of a line in front of a comment, at most one more than an entry has.
struct Words {
  std::array<std::string_view, 3> words{};
  size_t count = 0;
};

Words words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  Words words;
  while (words.count < words.words.size()) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.words[words.count++] = line.substr(begin, end - begin);
    line.remove_prefix(end);
  }
  return words;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  Number number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// The first byte is the most significant one.
uint64_t number_of(const uint8_t* bytes, size_t count) {
  uint64_t number = 0;
  for (size_t i = 0; i < count; ++i) number = number << 8 | bytes[i];
  return number;
}

// Faults as they are found, of which only the first ones are kept.
class FaultList {
 public:
  void add(uint32_t line, std::string text) {
    if (++count_ <= kFaultsListed) faults_.push_back({line, std::move(text)});
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Error error(const std::string& path) {
    std::ranges::stable_sort(faults_, {}, &config::Fault::line);
    Error error = config::error_of(faults_, path);
    if (count_ > kFaultsListed)
      error.message += "\n" + path + ": and " + std::to_string(count_ - kFaultsListed) + " more";
    return error;
  }

 private:
  std::vector<config::Fault> faults_;
  size_t count_ = 0;
};

// Calls take(words, line) for each line that is not empty. Errors: the file cannot be read.
template <class Take>
std::optional<Error> for_each_line(const std::string& path, Take&& take) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  uint32_t number = 0;
  for (std::string_view left = text.value(); !left.empty();) {
    const size_t end = left.find('\n');
    const Words words = words_of(left.substr(0, end));
    ++number;
    if (words.count > 0) take(words, number);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  return {};
}

// The key of a line; nothing: it is none, which is a fault.
std::optional<FormedKey> key_of_line(const Words& words, uint32_t line, FaultList& faults) {
  auto key = parse_key(words.words[0]);
  if (!key) {
    faults.add(line, config::in_quotes(words.words[0]) +
                         " is no key; give a MAC, IPv4 or IPv6 address, or a "
                         "number of at most 64 bits, decimal or 0x...");
  }
  return key;
}

// The widest value of that many bits that is not reserved.
uint32_t value_max(uint32_t bits) { return (UINT32_MAX >> (32 - bits)) - 1; }

std::optional<uint32_t> value_of_line(const Words& words, uint32_t line, uint32_t bits,
                                      FaultList& faults) {
  const auto value = parse_number<uint64_t>(words.words[1]);
  if (!value) {
    faults.add(line,
               config::in_quotes(words.words[1]) + " is no value; give a number, decimal or 0x...");
    return {};
  }
  if (*value > value_max(bits)) {
    faults.add(line, "the value " + std::to_string(*value) + " is too wide: values of " +
                         std::to_string(bits) + " bits are at most " +
                         std::to_string(value_max(bits)) + "; give --value-bits");
    return {};
  }
  return static_cast<uint32_t>(*value);
}

uint32_t width_of(const Key& key) {
  return static_cast<uint32_t>(key.high != 0 ? 64 + std::bit_width(key.high)
                                             : std::bit_width(key.low));
}

void find_duplicates(std::vector<Entry>& entries, FaultList& faults) {
  const auto is_before = [](const Entry& a, const Entry& b) {
    return std::pair(a.key, a.line) < std::pair(b.key, b.line);
  };
  if (!std::ranges::is_sorted(entries, is_before)) std::ranges::sort(entries, is_before);
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].key != entries[i - 1].key) continue;
    faults.add(entries[i].line, "this key is in line " + std::to_string(entries[i - 1].line) +
                                    " already; leave one of them out");
  }
}

}  // namespace

std::string_view key_form_name(KeyForm form) {
  switch (form) {
    case KeyForm::kNumber:
      return "numbers";
    case KeyForm::kMac:
      return "MAC addresses";
    case KeyForm::kIpv4:
      return "IPv4 addresses";
    case KeyForm::kIpv6:
      return "IPv6 addresses";
  }
  return "";
}

uint32_t bits_of_form(KeyForm form) {
  switch (form) {
    case KeyForm::kNumber:
      return 64;
    case KeyForm::kMac:
      return 48;
    case KeyForm::kIpv4:
      return 32;
    case KeyForm::kIpv6:
      return 128;
  }
  return 0;
}

std::optional<FormedKey> parse_key(std::string_view text) {
  if (const auto number = parse_number<uint64_t>(text))
    return FormedKey{KeyForm::kNumber, {0, *number}};
  if (const auto mac = net::MacAddress::parse(text))
    return FormedKey{KeyForm::kMac, {0, number_of(mac.value().bytes.data(), 6)}};
  if (const auto ipv4 = net::Ipv4Address::parse(text))
    return FormedKey{KeyForm::kIpv4, {0, number_of(ipv4.value().bytes.data(), 4)}};
  if (const auto ipv6 = net::Ipv6Address::parse(text)) {
    const uint8_t* const bytes = ipv6.value().bytes.data();
    return FormedKey{KeyForm::kIpv6, {number_of(bytes, 8), number_of(bytes + 8, 8)}};
  }
  return {};
}

Result<EntryFile> read_entries(const std::string& path, const EntryWidths& widths) {
  EntryFile file;
  FaultList faults;
  std::optional<FormedKey> first;
  uint32_t first_line = 0;
  auto unread = for_each_line(path, [&](const Words& words, uint32_t line) {
    if (words.count != 2) {
      faults.add(line, words.count == 1 ? "a key without a value; give both"
                                        : "more than a key and a value; a comment begins with #");
      return;
    }
    const auto key = key_of_line(words, line, faults);
    const auto value = value_of_line(words, line, widths.value_bits, faults);
    if (!key || !value) return;
    if (!first) {
      first = key;
      first_line = line;
    }
    if (key->form != first->form) {
      faults.add(line, "the keys are " + std::string(key_form_name(first->form)) + " since line " +
                           std::to_string(first_line) + ", and this is not one");
      return;
    }
    const uint32_t bits = widths.key_bits.value_or(bits_of_form(first->form));
    if (width_of(key->key) > bits) {
      faults.add(line, "the key " + config::in_quotes(words.words[0]) + " is too wide: it has " +
                           std::to_string(width_of(key->key)) + " bits, and keys have " +
                           std::to_string(bits));
      return;
    }
    file.entries.push_back({key->key, *value, line});
  });
  if (unread) return *unread;
  find_duplicates(file.entries, faults);
  if (!faults.empty()) return faults.error(path);
  if (!first) return Error{path + " has no entry; give a key and a value a line"};
  file.form = first->form;
  return file;
}

Result<std::vector<Question>> read_questions(const std::string& path) {
  std::vector<Question> questions;
  FaultList faults;
  auto unread = for_each_line(path, [&](const Words& words, uint32_t line) {
    if (words.count > 2) {
      faults.add(line, "more than a key and a value; a comment begins with #");
      return;
    }
    const auto key = key_of_line(words, line, faults);
    if (!key) return;
    Question question{.text = std::string(words.words[0]), .key = *key};
    if (words.count == 2) {
      question.value = value_of_line(words, line, 32, faults);
      if (!question.value) return;
    }
    questions.push_back(std::move(question));
  });
  if (unread) return *unread;
  if (!faults.empty()) return faults.error(path);
  return questions;
}

}  // namespace roost::map

#include "tests/map/entry_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "apps/map/image.h"

namespace roost::map {
namespace {

constexpr std::array<std::string_view, 6> kNoKeys = {"port", "-1",    "1.2.3",
                                                     "::g",  "02:00", "18446744073709551616"};
constexpr std::array<std::string_view, 4> kNoValues = {"x", "-1", "0x", "1.5"};
constexpr std::array<std::string_view, 4> kBlanks = {" ", "\t", "  ", " \t "};
constexpr std::array<std::string_view, 4> kEnds = {"", "\r", " # said", "#"};

uint8_t byte_of(const Key& key, unsigned place) {
  return static_cast<uint8_t>(key.low >> 8 * place);
}

// One file, line by line, beside what is to be found in it.
class Writer {
 public:
  explicit Writer(ByteSource& bytes) : bytes_(bytes) {
    form_ = static_cast<KeyForm>(bytes_.next(1) % 4);
    known_.widths.value_bits = 4 + static_cast<uint32_t>(bytes_.next(1) % 29);
    if (bytes_.next(1) % 2 == 0)
      known_.widths.key_bits = 1 + static_cast<uint32_t>(bytes_.next(1) % 64);
  }

  KnownFile all() {
    for (uint64_t count = bytes_.next(1) % 40; count > 0; --count) {
      add_line();
      known_.text += (count == 1 && bytes_.next(1) % 2 == 0) ? "" : "\n";
    }
    find_duplicates();
    if (form_of_first_) known_.file.form = *form_of_first_;
    return std::move(known_);
  }

 private:
  template <size_t kCount>
  std::string one_of(const std::array<std::string_view, kCount>& words) {
    return std::string(words[bytes_.next(1) % kCount]);
  }
  void fault() { known_.fault_lines.push_back(line_); }

  // Few different ones mostly, so that some are there twice.
  FormedKey any_key() {
    const KeyForm form =
        bytes_.next(1) % 16 == 0 ? static_cast<KeyForm>(bytes_.next(1) % 4) : form_;
    Key key{0, bytes_.next(1) % 4 == 0 ? bytes_.next(8) : bytes_.next(1)};
    const uint32_t bits = bits_of_form(form);
    if (bits < 64) key.low &= (uint64_t{1} << bits) - 1;
    if (bits == 128 && bytes_.next(1) % 2 == 0) key.high = bytes_.next(8);
    return {form, key};
  }

  void add_line() {
    ++line_;
    const std::string blank = one_of(kBlanks);
    const std::string end = one_of(kEnds);
    const uint64_t what = bytes_.next(1) % 16;
    if (what == 0) {  // nothing, or a comment
      known_.text += blank + end;
      return;
    }
    const bool is_key = what != 1;
    const bool is_value = what != 2;
    const FormedKey key = any_key();
    const uint64_t value = bytes_.next(1) % 8 == 0 ? bytes_.next(5) : bytes_.next(1) % 15;
    known_.text += is_key ? text_of(key, bytes_.next(1)) : one_of(kNoKeys);
    if (what == 3) {
      known_.text += end;
      fault();
      return;
    }
    known_.text += blank;
    known_.text +=
        is_value ? text_of({KeyForm::kNumber, {0, value}}, bytes_.next(1)) : one_of(kNoValues);
    known_.text += what == 4 ? blank + "1" + end : end;
    if (what == 4) return fault();
    if (!is_key) fault();
    const uint64_t value_limit = (uint64_t{1} << known_.widths.value_bits) - 1;
    if (!is_value || value >= value_limit) return fault();
    if (is_key) take(key, static_cast<uint32_t>(value));
  }

  void take(const FormedKey& key, uint32_t value) {
    if (!form_of_first_) form_of_first_ = key.form;
    if (key.form != *form_of_first_) return fault();
    const uint32_t bits = known_.widths.key_bits.value_or(128);
    const bool fits =
        bits == 128 || (key.key.high == 0 && (bits == 64 || key.key.low >> bits == 0));
    if (!fits) return fault();
    known_.file.entries.push_back({key.key, value, line_});
  }

  void find_duplicates() {
    std::vector<Entry>& entries = known_.file.entries;
    std::ranges::stable_sort(entries, {}, &Entry::key);
    for (size_t i = 1; i < entries.size(); ++i)
      if (entries[i].key == entries[i - 1].key) known_.fault_lines.push_back(entries[i].line);
  }

  ByteSource& bytes_;
  KeyForm form_{};
  std::optional<KeyForm> form_of_first_{};
  uint32_t line_ = 0;
  KnownFile known_{};
};

}  // namespace

std::string text_of(const FormedKey& key, uint64_t way) {
  const auto byte = [&](unsigned place) { return byte_of(key.key, place); };
  switch (key.form) {
    case KeyForm::kNumber:
      if (way % 3 == 0) return fmt::format("0x{:x}", key.key.low);
      return way % 3 == 1 ? fmt::format("0X{:X}", key.key.low) : fmt::format("{}", key.key.low);
    case KeyForm::kMac:
      return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", byte(5), byte(4), byte(3),
                         byte(2), byte(1), byte(0));
    case KeyForm::kIpv4:
      return fmt::format("{}.{}.{}.{}", byte(3), byte(2), byte(1), byte(0));
    case KeyForm::kIpv6:
      if (way % 2 == 0) return ipv6_of(key.key).format();
      std::string text;
      for (const uint64_t half : {key.key.high, key.key.low})
        for (unsigned shift = 64; shift > 0; shift -= 16)
          text += fmt::format("{}{:x}", text.empty() ? "" : ":", half >> (shift - 16) & 0xffff);
      return text;
  }
  return {};
}

KnownFile known_file(ByteSource& bytes) { return Writer(bytes).all(); }

}  // namespace roost::map

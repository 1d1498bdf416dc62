// A text file of keys and values, one entry a line, and keys as people write them
// (docs/decisions/0050-value-maps-elsewhere.md).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"

namespace roost::map {

// How a key is written. A file has keys of one form.
enum class KeyForm : uint8_t { kNumber, kMac, kIpv4, kIpv6 };

// "numbers", "MAC addresses", "IPv4 addresses", "IPv6 addresses".
[[nodiscard]] std::string_view key_form_name(KeyForm form);
// The bits that keys of this form have: 64, 48, 32, 128.
[[nodiscard]] uint32_t bits_of_form(KeyForm form);

// A key as a number of 128 bits; an address's first byte is its most significant one.
struct Key {
  uint64_t high = 0;  // of IPv6 addresses only
  uint64_t low = 0;

  auto operator<=>(const Key&) const = default;
};

struct FormedKey {
  KeyForm form{};
  Key key{};
};
// An address, or a number, decimal or in hexadecimal behind "0x"; nothing: it is none of these.
[[nodiscard]] std::optional<FormedKey> parse_key(std::string_view text);

struct Entry {
  Key key{};
  uint32_t value = 0;
  uint32_t line = 0;
};

struct EntryFile {
  KeyForm form{};
  std::vector<Entry> entries{};  // in the order of their keys
};

// What keys and values may have.
struct EntryWidths {
  uint32_t value_bits = 0;             // the value of all ones is reserved
  std::optional<uint32_t> key_bits{};  // fewer than their form's
};

// Errors: the file cannot be read, or has no entry; lines that are no entries, keys of another form
// than the first one's, keys that are there twice, keys and values too wide: each with its line, as
// many as a person reads. Memory of the file and 24 bytes an entry.
[[nodiscard]] Result<EntryFile> read_entries(const std::string& path, const EntryWidths& widths);

// A key to ask for, as it was written, and the value that stands behind it, if one does.
struct Question {
  std::string text{};
  FormedKey key{};
  std::optional<uint32_t> value{};
};
// As read_entries(), of keys with or without values.
[[nodiscard]] Result<std::vector<Question>> read_questions(const std::string& path);

}  // namespace roost::map

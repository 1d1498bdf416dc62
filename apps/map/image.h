// The image of a value-only table, of whichever kind: what it says of keys, and whether it is
// whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "apps/map/entry_file.h"
#include "roost/base/result.h"
#include "roost/compact/line_map_reader.h"
#include "roost/compact/parrot_reader.h"
#include "roost/memory/arena.h"
#include "roost/net/address.h"

namespace roost::map {

// Its builder may be changing it, if it is a line map that XDP reads.
using LineReader = compact::LineMapReader<uint64_t, compact::SharedImage>;
using LineReaderIpv6 = compact::LineMapReader<net::Ipv6Address, compact::SharedImage>;

// A key of 128 bits as an address.
[[nodiscard]] net::Ipv6Address ipv6_of(const Key& key);

// What an image says of a key.
struct Answer {
  std::optional<uint32_t> value{};
  bool is_certain = false;  // else the value is that of the key, if the table has the key
};

class Image {
 public:
  // Of a file that build_image() made. Errors: it cannot be read; it is foreign, cut, changed, has
  // no checksum, or has what no builder writes. Linear.
  static Result<Image> read(const std::string& path);
  // Of memory that a builder may change, such as a table that is attached: it has no checksum. It
  // must outlive the image. Errors: it is no image, or a line stays in the middle of a change.
  static Result<Image> borrow(std::span<const std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  // nullptr: it is of another kind.
  [[nodiscard]] const compact::ParrotReader* parrot() const {
    return std::get_if<compact::ParrotReader>(&reader_);
  }
  // The head and the lines of a line map of any keys.
  [[nodiscard]] const compact::LineMapHead* line_map() const;
  [[nodiscard]] LineReader::Line line(size_t level, uint64_t index) const;

  // 64, or fewer in a Parrot table; 128 in a line map of IPv6 addresses.
  [[nodiscard]] uint32_t key_bits() const;

  // In the order of the keys. A key that is wider than the table's is certainly not there.
  [[nodiscard]] std::vector<Answer> answers(std::span<const Key> keys) const;

 private:
  using Reader = std::variant<compact::ParrotReader, LineReader, LineReaderIpv6>;

  Image(std::optional<Arena> memory, std::span<const std::byte> bytes, Reader reader)
      : memory_(std::move(memory)), bytes_(bytes), reader_(reader) {}

  static Result<Image> open(std::optional<Arena> memory, std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<std::string> audit() const;

  std::optional<Arena> memory_;
  std::span<const std::byte> bytes_;
  Reader reader_;
};

}  // namespace roost::map

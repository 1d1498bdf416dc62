// Builds and changes a line map (docs/decisions/0047-line-map.md): the half that has the keys.
//
//   auto map = LineMapBuilder<uint64_t>::build({.value_bits = 16}, entries).value();
//   auto reader = LineMapReader<uint64_t>::open(map.image()).value();
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/compact/line_filling.h"
#include "roost/compact/line_layout.h"
#include "roost/compact/line_map_levels.h"
#include "roost/compact/line_map_reader.h"

namespace roost::compact {

// Keys are values without padding bytes, of at most 64 bytes. The definitions are in
// line_map_builder_impl.h, which the sources include that build maps of their keys.
template <class Key>
class LineMapBuilder {
 public:
  struct Entry {
    Key key{};
    uint32_t value = 0;
  };
  struct Report {
    uint64_t keys = 0;
    uint64_t image_bytes = 0;
    uint64_t builder_bytes = 0;  // beside the image
    std::vector<uint64_t> keys_by_level{};
  };

  // Any order of entries. Errors: a number of the configuration that cannot be; keys that are there
  // twice, values too wide or reserved; memory. Time linear in the keys.
  static Result<LineMapBuilder> build(const LineMapConfig& config, std::vector<Entry> entries);

  // Adds a key, changes its value, takes it out. Time of a line, or of one a level.
  ChangeOutcome insert(const Key& key, uint32_t value);
  ChangeOutcome update(const Key& key, uint32_t value);
  ChangeOutcome erase(const Key& key);

  [[nodiscard]] std::optional<uint32_t> find(const Key& key) const {
    const auto place = find_place(key);
    if (!place) return {};
    return reader().line(place->level, place->line).value(place->slot);
  }
  [[nodiscard]] uint64_t size() const { return size_; }
  // In no order.
  [[nodiscard]] std::vector<Entry> entries() const;
  // A map of the same keys, as large as they are now.
  [[nodiscard]] Result<LineMapBuilder> rebuilt() const { return build(config_, entries()); }

  // To be read; it changes with the map, and goes with it.
  [[nodiscard]] std::span<const std::byte> image() const { return levels_.image(); }
  // A copy with a checksum, for files.
  [[nodiscard]] std::vector<std::byte> exported() const {
    std::vector<std::byte> bytes(image().begin(), image().end());
    seal_image(bytes);
    return bytes;
  }
  [[nodiscard]] Report report() const;
  // Whether every key has the slot that its group's seed sends it to. Linear.
  [[nodiscard]] std::optional<std::string> audit() const;

 private:
  using Padded = PaddedKey<Key>;
  struct Place {
    size_t level = 0;
    uint64_t line = 0;
    uint32_t slot = 0;
  };

  LineMapBuilder(const LineMapConfig& config, LineMapLevels levels)
      : config_(config), levels_(std::move(levels)) {}

  // Fills the level that was added last; those that go further are left.
  void fill_level(std::vector<Entry>& waiting);
  void fill_one(size_t level, uint64_t line, std::span<const Entry> entries,
                std::vector<Entry>& further);
  // Brings a key into a level or one behind it; false: there is no room, and nothing has changed.
  [[nodiscard]] bool put(size_t level, const Entry& entry);
  [[nodiscard]] bool reseed_group(size_t level, const LinePlace& at, const Entry& entry);
  [[nodiscard]] bool refill_line(size_t level, uint64_t line, const Entry& entry);
  [[nodiscard]] bool send_further(size_t level, const LinePlace& at, const Entry& entry);

  [[nodiscard]] const LineMapReader<Key>& reader() const {
    ROOST_ASSERT(reader_.has_value());
    return *reader_;
  }
  [[nodiscard]] std::optional<Place> find_place(const Key& key) const;
  // What a line has; of one of its groups.
  [[nodiscard]] std::vector<Entry> entries_of(size_t level, uint64_t line) const;
  [[nodiscard]] std::vector<Entry> group_of(size_t level, const LinePlace& at) const;
  void write(const Place& place, const Entry& entry);
  void clear(const Place& place);
  void clear_all(size_t level, const std::vector<Entry>& entries);
  [[nodiscard]] Key& key_at(const Place& place) {
    return keys_[place.level][place.line * shape().slots() + place.slot];
  }
  [[nodiscard]] const Key& key_at(const Place& place) const {
    return keys_[place.level][place.line * shape().slots() + place.slot];
  }
  [[nodiscard]] const LineShape& shape() const { return levels_.head().shape; }

  LineMapConfig config_;
  LineMapLevels levels_;
  std::optional<LineMapReader<Key>> reader_;
  std::vector<std::vector<Key>> keys_;  // by level, line and slot
  uint64_t size_ = 0;
};

}  // namespace roost::compact

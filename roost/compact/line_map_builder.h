// Builds and changes a line map (docs/decisions/0047-line-map.md): the half that has the keys.
//
//   auto map = LineMapBuilder<uint64_t>::build({.value_bits = 16}, entries).value();
//   auto reader = LineMapReader<uint64_t>::open(map.image()).value();
//
// Readers of a SharedImage may read while it changes
// (docs/decisions/0048-value-only-tables-shared.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/compact/line_draft.h"
#include "roost/compact/line_filling.h"
#include "roost/compact/line_layout.h"
#include "roost/compact/line_map_levels.h"
#include "roost/compact/line_map_reader.h"

namespace roost::compact {

// Keys are values without padding bytes, of at most 64 bytes. `Words` stores what readers may read
// meanwhile. The definitions are in line_map_builder_impl.h, which the sources include that build
// maps of their keys. One thread at a time.
template <class Key, class Words = AtomicWords>
class LineMapBuilder {
 public:
  using KeyType = Key;
  using Config = LineMapConfig;
  using SharedReader = LineMapReader<Key, BasicSharedImage<Words>>;
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
  [[nodiscard]] const Config& config() const { return config_; }
  // In no order.
  [[nodiscard]] std::vector<Entry> entries() const;
  // A map of the same keys, as large as they are now.
  [[nodiscard]] Result<LineMapBuilder> rebuilt() const { return build(config_, entries()); }

  // Copies the image to memory of the caller, such as what another data plane reads, and changes it
  // there from now on; the old image goes. The memory is aligned to 64 bytes and lives as long as
  // the map; rebuilt() makes a map elsewhere. Errors: it is too small or not aligned.
  [[nodiscard]] std::optional<Error> move_image(std::span<std::byte> memory) {
    if (auto error = levels_.move_to(memory)) return error;
    reader_.emplace(Reader::open(image()).value());
    return {};
  }

  // To be read; it changes with the map, and goes with it.
  [[nodiscard]] std::span<const std::byte> image() const { return levels_.image(); }
  [[nodiscard]] SharedReader shared_reader() const { return SharedReader::open(image()).value(); }
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
  using Reader = LineMapReader<Key>;
  using Line = typename Reader::Line;
  struct Place {
    size_t level = 0;
    uint64_t line = 0;
    uint32_t slot = 0;
  };

  LineMapBuilder(const LineMapConfig& config, LineMapLevels levels)
      : config_(config), levels_(std::move(levels)) {}

  [[nodiscard]] static bool has_twins(std::vector<Entry>& entries);
  // Fills the level that was added last; those that go further are left.
  void fill_level(std::vector<Entry>& waiting);
  [[nodiscard]] std::optional<Error> keep_keys();
  void fill_one(size_t level, uint64_t line, std::span<const Entry> entries,
                std::vector<Entry>& further);

  // Brings a key into a level or one behind it; false: there is no room, and nothing has changed.
  [[nodiscard]] bool put(size_t level, const Entry& entry);
  [[nodiscard]] bool reseed_group(size_t level, const LinePlace& at, const Entry& entry);
  [[nodiscard]] bool refill_line(size_t level, uint64_t line, const Entry& entry);
  // All of them or none.
  [[nodiscard]] bool put_all(size_t level, std::span<const Entry> entries);
  // Takes a key out of a level or one behind it, where it is.
  Place take_out(size_t level, const Key& key);
  // Tries each group of a line that went further.
  void bring_back(size_t level, uint64_t line);
  void bring_group_back(size_t level, uint64_t line, uint32_t group);
  // Writes keys of one group into a draft, under a seed that sends them to free slots; whether
  // there is one.
  [[nodiscard]] bool seed_group(LineDraft& draft, size_t level, uint64_t line, uint32_t group,
                                std::span<const Entry> entries, SlotSet taken);

  [[nodiscard]] const Reader& reader() const {
    ROOST_ASSERT(reader_.has_value());
    return *reader_;
  }
  [[nodiscard]] const LineGeometry& geometry() const { return reader().geometry(); }
  // From a level on.
  [[nodiscard]] std::optional<Place> find_place(const Key& key, size_t level = 0) const;
  // Calls visit(entry) for each entry of a line.
  template <class Visit>
  void for_each_entry(size_t level, uint64_t line, Visit&& visit) const;
  // What a line has; of one of its groups.
  [[nodiscard]] std::vector<Entry> entries_of(size_t level, uint64_t line) const;
  [[nodiscard]] std::vector<Entry> group_of(size_t level, uint64_t line, uint32_t group) const;
  [[nodiscard]] SlotSet taken_slots(size_t level, uint64_t line) const;

  [[nodiscard]] LineDraft draft_of(size_t level, uint64_t line) const {
    return {geometry(), levels_.line_at(level, line)};
  }
  void store(size_t level, uint64_t line, const LineDraft& draft);
  // A key's slot in a draft of its line.
  void write(LineDraft& draft, const Place& place, const Entry& entry);
  [[nodiscard]] Key& key_at(const Place& place) {
    return keys_[place.level][place.line * geometry().slots + place.slot];
  }
  [[nodiscard]] const Key& key_at(const Place& place) const {
    return keys_[place.level][place.line * geometry().slots + place.slot];
  }

  // Keys whose group went further, by group.
  [[nodiscard]] uint64_t group_number(size_t level, uint64_t line, uint32_t group) const {
    return (line * geometry().groups + group) * kLevelsMax + level;
  }
  void note_further(size_t level, const Key& key);
  void forget_further(size_t level, const Key& key);
  [[nodiscard]] std::vector<Key> further_of(size_t level, uint64_t line, uint32_t group) const;

  LineMapConfig config_;
  LineMapLevels levels_;
  std::optional<Reader> reader_;
  std::vector<std::vector<Key>> keys_;  // by level, line and slot
  std::unordered_multimap<uint64_t, Key> further_;
  std::vector<uint32_t> new_keys_;  // slots of the draft at hand whose kept keys change
  uint64_t size_ = 0;
};

}  // namespace roost::compact

// The accelerator's lines of metadata, one a table. A line that a query in flight uses is pinned;
// one that was invalidated serves nobody further. Lines are replaced in turn, pinned ones left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roost/base/assert.h"
#include "sim/table_format.h"

namespace roost::sim {

class MetadataCache {
 public:
  explicit MetadataCache(uint32_t lines) : places_(lines) {}

  // What a table's query finds: its line; that it is being read; that it is to be read into a
  // place, of which the line of another table has to be given up; or no place, until a query ends.
  enum class Finding : uint8_t { kHit, kBeingRead, kToRead, kNoPlace };
  struct Answer {
    Finding finding;
    uint32_t place = 0;
    std::optional<uint64_t> given_up{};
  };

  // Pins the place that it answers with.
  Answer find(uint64_t table) {
    for (uint32_t place = 0; place < places_.size(); ++place) {
      Place& held = places_[place];
      if (held.table != table || !(held.is_valid || held.is_being_read)) continue;
      if (held.is_being_read) return {Finding::kBeingRead, place};
      ++held.pins;
      return {Finding::kHit, place};
    }
    for (uint32_t tried = 0; tried < places_.size(); ++tried) {
      const uint32_t place = next_;
      next_ = (next_ + 1) % static_cast<uint32_t>(places_.size());
      Place& held = places_[place];
      if (held.pins != 0) continue;
      const auto given_up = held.is_valid ? std::optional(held.table) : std::nullopt;
      held = {.table = table, .is_being_read = true, .pins = 1};
      return {Finding::kToRead, place, given_up};
    }
    return {Finding::kNoPlace};
  }
  // Whether a line is on its way into that place.
  [[nodiscard]] bool is_being_read(uint32_t place) const { return places_[place].is_being_read; }

  // The line has come. False if it was invalidated on its way: then it is to be read again.
  bool fill(uint32_t place, const LineBytes& line) {
    Place& held = places_[place];
    ROOST_DEBUG_ASSERT(held.is_being_read);
    if (held.is_stale) {
      held.is_stale = false;
      return false;
    }
    const std::optional<TableMetadata> table = TableMetadata::of_line(line);
    held.metadata = table.value_or(TableMetadata{});
    held.is_table = held.is_valid = table.has_value();
    held.is_being_read = false;
    return true;
  }
  // Of the pinned place; nullptr, if the line is none of a table.
  [[nodiscard]] const TableMetadata* metadata(uint32_t place) const {
    return places_[place].is_table ? &places_[place].metadata : nullptr;
  }
  void unpin(uint32_t place) {
    ROOST_DEBUG_ASSERT(places_[place].pins > 0);
    --places_[place].pins;
  }

  void invalidate(uint64_t table) {
    for (Place& held : places_) {
      if (held.table != table) continue;
      held.is_valid = false;
      held.is_stale = held.is_being_read;
    }
  }

 private:
  struct Place {
    uint64_t table = 0;
    bool is_valid = false;
    bool is_being_read = false;
    bool is_stale = false;
    uint32_t pins = 0;
    bool is_table = false;
    TableMetadata metadata{};
  };
  std::vector<Place> places_;
  uint32_t next_ = 0;
};

}  // namespace roost::sim

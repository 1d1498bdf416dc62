// The mesh between tiles: a message goes along its row, then along its column. Each link takes one
// flit of 64 bytes a cycle; a message waits at a link until that has a free cycle. Buffers are
// unbounded.
//
// Messages between two tiles that leave one after the other arrive in this order.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/parameters.h"
#include "sim/slot_calendar.h"

namespace roost::sim {

// A tile's number: of its core, of its slice and of its accelerator.
using Tile = uint32_t;

class Mesh {
 public:
  explicit Mesh(const Parameters& parameters)
      : columns_(parameters.mesh_columns),
        hop_cycles_(parameters.mesh_hop_cycles),
        links_(size_t{parameters.tiles()} * kDirections) {}

  [[nodiscard]] uint32_t hops(Tile from, Tile to) const {
    return distance(from % columns_, to % columns_) + distance(from / columns_, to / columns_);
  }

  // A message leaves at a cycle; when it has arrived as a whole. Time linear in the hops.
  Cycle send(Cycle leaves, Tile from, Tile to, uint32_t flits = 1) {
    Cycle at = leaves;
    Tile tile = from;
    while (tile != to) {
      const Direction direction = next(tile, to);
      SlotCalendar& link = links_[size_t{tile} * kDirections + direction];
      at = link.take(at);
      for (uint32_t flit = 1; flit < flits; ++flit) (void)link.take(at + flit);
      at += hop_cycles_;
      tile = neighbour(tile, direction);
    }
    return flits > 1 && from != to ? at + flits - 1 : at;
  }

  // Flits that links have carried.
  [[nodiscard]] uint64_t link_flits() const {
    uint64_t flits = 0;
    for (const SlotCalendar& link : links_) flits += link.taken_count();
    return flits;
  }

 private:
  enum Direction : uint32_t { kWest, kEast, kNorth, kSouth, kDirections };

  [[nodiscard]] static uint32_t distance(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }
  [[nodiscard]] Direction next(Tile tile, Tile to) const {
    const uint32_t column = tile % columns_;
    if (column != to % columns_) return column < to % columns_ ? kEast : kWest;
    return tile < to ? kSouth : kNorth;
  }
  [[nodiscard]] Tile neighbour(Tile tile, Direction direction) const {
    switch (direction) {
      case kWest:
        return tile - 1;
      case kEast:
        return tile + 1;
      case kNorth:
        return tile - columns_;
      default:
        return tile + columns_;
    }
  }

  uint32_t columns_;
  uint32_t hop_cycles_;
  std::vector<SlotCalendar> links_;
};

}  // namespace roost::sim

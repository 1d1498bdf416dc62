// The accelerators of all slices, and the distributor that sends queries to them (HALO,
// section 4.3): by the slice hash of the table's address, or by that of the primary bucket's line,
// which is ours. While an accelerator has no free place in its scoreboard, its queries wait at the
// distributor, in the order in which they came.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/accelerator_tile.h"
#include "sim/memory_system.h"
#include "sim/query.h"

namespace roost::sim {

class AcceleratorArray final : public EventTarget, public QuerySink {
 public:
  explicit AcceleratorArray(MemorySystem& memory);

  void send(const Query& query, Cycle leaves, EventTarget* core, uint32_t kind) override;
  void add_hash(Query& query) override;
  void handle(const Event& event) override;

  // For the tiles: the command of a query; a word that leaves at a cycle; that places may be free.
  [[nodiscard]] AcceleratorQuery command(uint32_t token);
  void deliver(Tile tile, uint32_t token, uint64_t word, Cycle leaves);
  void places_changed(Tile tile);

  [[nodiscard]] AcceleratorTile& tile(Tile tile) { return *tiles_[tile]; }
  // Where queries of a table go, when they go by its address.
  [[nodiscard]] Tile tile_of_table(uint64_t table) const {
    return memory_.slice_of(line_of(table));
  }
  // Queries that wait at the distributor, or are under way.
  [[nodiscard]] size_t in_flight() const { return queries_.size(); }
  // Most queries that ever waited at the distributor for one accelerator.
  [[nodiscard]] size_t waiting_max() const { return waiting_max_; }
  // The accelerators that have queries, and what these wait for, in words.
  [[nodiscard]] std::string state_in_words() const;

 private:
  enum Message : uint32_t { kAtDistributor };

  struct Sent {
    Query query;
    EventTarget* core;
    uint32_t kind;
    Tile tile;
  };

  void dispatch(uint32_t token, Cycle leaves);

  MemorySystem& memory_;
  std::vector<std::unique_ptr<AcceleratorTile>> tiles_;
  InFlight<Sent> queries_;
  std::vector<std::deque<uint32_t>> waiting_;  // tokens, by accelerator
  size_t waiting_max_ = 0;
};

}  // namespace roost::sim

// DxHash (Dong and Wang, "DxHash: A scalable consistent hash based on the pseudo-random sequence",
// 2021): a flow draws places in an array of nodes until one is of a node that works.
//
// The array has a power of two of places, at least as many as nodes. A flow's hash seeds a sequence
// of draws; each names a place, and the first that a working node stands in has the flow. A node
// that goes gives its flows to wherever their sequences lead next; one that comes takes those whose
// sequences met its place before.
//
// Weights by rejection, which is our own choice: a draw also says a level below `scale`, a power of
// two that no weight is above, and a node takes the draw if its weight is above the level. A weight
// that grows takes flows from the others, one that shrinks gives some away; none moves between two
// others. With weight 0 a node takes none.
//
// A backend that comes takes the place that has been free longest (a queue), so the places depend
// on the order of all changes: kKeepsHistory.
//
// A pick takes places * scale / (sum of weights) draws on average: two at most while weights are
// equal and a power of two and the array is half full, many where one weight is far above the rest.
// When there are more backends than places, or a weight is above the scale, that number is doubled.
// It is another hash then: about half of the flows move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "roost/balance/flow_draw.h"
#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

// Immutable once made: any number of threads may pick.
class Dx {
 public:
  static constexpr bool kKeepsHistory = true;
  static constexpr uint32_t kPlaceCountMax = uint32_t{1} << 16;
  static constexpr uint64_t kDrawsMax = uint64_t{1} << 12;  // expected, of a pick

  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
    uint32_t place_count_min = 1;  // rounded up to a power of two
    uint32_t weight_max = 1;       // the same; a greater one may be asked for later
  };

  // The backends come in order of their names. Refuses what refuse_backends does, more than
  // kPlaceCountMax places, and weights so far apart that a pick would take more than kDrawsMax
  // draws.
  static Result<Dx> create(const Config& config);

  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const {
    if (!has_weight_) return std::nullopt;
    uint64_t state = flow_hash ^ salt_;
    while (true) {
      const uint64_t draw = splitmix64_next(state);
      const Place& place = places_[draw & (places_.size() - 1)];
      if (((draw >> 1) >> level_shift_) < place.weight) return place.owner;
    }
  }

  // Backends that have gone free their places in order of these; then others come in order of
  // their names. O(places).
  [[nodiscard]] Result<Dx> next(std::span<const WeightedBackend> backends) const;

  [[nodiscard]] uint64_t memory_bytes() const { return places_.size() * sizeof(Place); }
  [[nodiscard]] uint32_t place_count() const { return static_cast<uint32_t>(places_.size()); }
  [[nodiscard]] uint64_t scale() const { return uint64_t{1} << (63 - level_shift_); }

 private:
  struct Place {
    uint32_t weight = 0;  // 0: takes no draw
    uint16_t owner = kNoBackend;
  };

  Dx(uint64_t seed, uint32_t place_count, uint64_t scale);
  [[nodiscard]] std::optional<Error> refuse_draws() const;

  uint64_t seed_;
  uint64_t salt_;
  unsigned level_shift_;  // of half a draw, to a level
  bool has_weight_ = false;
  std::vector<Place> places_;
  std::deque<uint32_t> free_;              // places, the one that has been free longest first
  std::vector<WeightedBackend> backends_;  // the list last given
};

}  // namespace roost::balance

// Rendezvous hashing, or highest random weight (Thaler and Ravishankar, "Using name-based mappings
// to increase hit rates", IEEE/ACM Transactions on Networking, 1998), with weights: every backend
// draws a number for the flow, and the best one has it.
//
// Weights by the logarithmic method (Schindelhauer and Schomaker, "Weighted distributed hash
// tables", SPAA 2005): of draws h, evenly from 0 to 1, the least -log(h) / weight wins. These are
// exponentially distributed with the weight as rate, so each wins with its share of the weights.
// Without weights it is the highest draw.
//
// The logarithm is taken in integers, from a table of 256 steps and straight lines between them, so
// that every machine chooses alike. A line is off by up to 0.2 % of the slope, and so is the share
// of a backend.
//
// I1 Names, weights and seed determine each pick; the order in which backends are given does not.
// I2 A backend's draw does not depend on the others. So when it goes or loses weight, flows move
//    from it only; when it comes or gains weight, to it only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

// -log2(draw / 2^64) in units of 2^-32; the lowest bit of the draw counts as set.
[[nodiscard]] uint64_t negative_log2(uint64_t draw);

// Immutable once made: any number of threads may pick.
class Rendezvous {
 public:
  static constexpr bool kKeepsHistory = false;

  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
  };

  // Refuses what refuse_backends does.
  static Result<Rendezvous> create(const Config& config);

  // O(backends).
  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const;

  [[nodiscard]] Result<Rendezvous> next(std::span<const WeightedBackend> backends) const {
    return create({backends, seed_});
  }

  [[nodiscard]] uint64_t memory_bytes() const { return players_.size() * sizeof(Player); }

 private:
  struct Player {
    uint64_t salt;          // its name under the seed
    double inverse_weight;  // its cost is the logarithm times this
    uint16_t index;         // in the caller's list
  };

  explicit Rendezvous(uint64_t seed) : seed_(seed) {}

  uint64_t seed_;
  std::vector<Player> players_;  // those with a weight, in order of their names
};

}  // namespace roost::balance

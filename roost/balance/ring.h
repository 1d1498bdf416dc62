// Consistent hashing on a ring (Karger et al., "Consistent hashing and random trees", STOC 1997):
// backends have points on a circle, and a flow goes to the point that follows its hash.
//
// A backend has points in proportion to its weight, drawn from its name; with weight w the first
// w * points_per_weight numbers of one sequence, so that more weight adds points and moves none.
// With p points a backend the shares of equal backends differ by about 1 / sqrt(p) of their mean:
// 10 % for the default of 100, and the greatest of many is further off.
//
// I1 Names, weights, seed and points_per_weight determine who owns each part of the circle; the
//    order in which backends are given does not.
// I2 When a backend goes or loses weight, flows move from it only; when it comes or gains weight,
//    to it only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

// Immutable once made: any number of threads may pick.
class Ring {
 public:
  static constexpr bool kKeepsHistory = false;
  static constexpr uint32_t kPointsPerWeightDefault = 100;
  static constexpr uint64_t kPointCountMax = uint64_t{1} << 24;

  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
    uint32_t points_per_weight = kPointsPerWeightDefault;
  };

  // Refuses what refuse_backends does, no points, and more than kPointCountMax.
  // O(points * log(points)).
  static Result<Ring> create(const Config& config);

  // O(log(points)).
  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const {
    if (points_.empty()) return std::nullopt;
    const auto after = std::ranges::lower_bound(points_, flow_hash);
    return owners_[after == points_.end() ? 0 : static_cast<size_t>(after - points_.begin())];
  }

  [[nodiscard]] Result<Ring> next(std::span<const WeightedBackend> backends) const {
    return create({backends, seed_, points_per_weight_});
  }

  [[nodiscard]] uint64_t memory_bytes() const {
    return points_.size() * (sizeof(points_[0]) + sizeof(owners_[0]));
  }

 private:
  explicit Ring(const Config& config)
      : seed_(config.seed), points_per_weight_(config.points_per_weight) {}

  uint64_t seed_;
  uint32_t points_per_weight_;
  std::vector<uint64_t> points_;  // rising
  std::vector<uint16_t> owners_;  // of the points
};

}  // namespace roost::balance

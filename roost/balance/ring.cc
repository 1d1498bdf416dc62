#include "roost/balance/ring.h"

#include <string>

#include "roost/balance/name_hash.h"

namespace roost::balance {

Result<Ring> Ring::create(const Config& config) {
  if (std::optional<Error> error = refuse_backends(config.backends)) return *std::move(error);
  if (config.points_per_weight == 0) return Error{"a ring without points; give it at least one"};
  uint64_t weight_sum = 0;
  for (const WeightedBackend& backend : config.backends) weight_sum += backend.weight;
  if (weight_sum > kPointCountMax / config.points_per_weight) {
    return Error{"a ring of more than " + std::to_string(kPointCountMax) +
                 " points; make the weights smaller, or give them fewer points"};
  }

  struct Point {
    uint64_t place;
    uint16_t owner;
  };
  std::vector<Point> points;
  points.reserve(weight_sum * config.points_per_weight);
  for (const uint16_t owner : weighted_by_name(config.backends)) {
    const WeightedBackend& backend = config.backends[owner];
    uint64_t state = name_hash(backend.name, config.seed).first;
    for (uint64_t i = 0; i < uint64_t{backend.weight} * config.points_per_weight; ++i) {
      points.push_back({splitmix64_next(state), owner});
    }
  }
  // Of two points at one place the first in order of the names counts.
  std::ranges::stable_sort(points, {}, &Point::place);

  Ring ring(config);
  for (const Point& point : points) {
    ring.points_.push_back(point.place);
    ring.owners_.push_back(point.owner);
  }
  return ring;
}

}  // namespace roost::balance

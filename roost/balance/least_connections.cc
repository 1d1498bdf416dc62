#include "roost/balance/least_connections.h"

namespace roost::balance {

Result<LeastConnections> LeastConnections::create(const Config& config) {
  if (std::optional<Error> error = refuse_backends(config.backends)) return *std::move(error);
  LeastConnections made(config.seed);
  for (const uint16_t index : weighted_by_name(config.backends)) {
    const WeightedBackend& backend = config.backends[index];
    made.candidates_.push_back({name_hash(backend.name, config.seed).first, backend.weight, index});
  }
  return made;
}

}  // namespace roost::balance

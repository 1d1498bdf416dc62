#include "roost/balance/jump.h"

#include <numeric>
#include <string>

namespace roost::balance {

Result<Jump> Jump::create(const Config& config) {
  if (std::optional<Error> error = refuse_backends(config.backends)) return *std::move(error);
  uint64_t divisor = 0;
  uint64_t weight_sum = 0;
  for (const WeightedBackend& backend : config.backends) {
    divisor = std::gcd(divisor, uint64_t{backend.weight});
    weight_sum += backend.weight;
  }
  if (weight_sum == 0) return Jump(config.seed, {});
  if (weight_sum / divisor > kBucketCountMax) {
    return Error{"the weights add up to more than " + std::to_string(kBucketCountMax) +
                 " times what divides them all; make them smaller"};
  }
  std::vector<uint16_t> owners;
  owners.reserve(weight_sum / divisor);
  for (size_t i = 0; i < config.backends.size(); ++i) {
    owners.insert(owners.end(), config.backends[i].weight / divisor, static_cast<uint16_t>(i));
  }
  return Jump(config.seed, std::move(owners));
}

}  // namespace roost::balance

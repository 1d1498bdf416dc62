#include "roost/balance/dx.h"

#include <algorithm>
#include <bit>
#include <string>

namespace roost::balance {
namespace {

uint32_t heaviest(std::span<const WeightedBackend> backends) {
  uint32_t weight = 0;
  for (const WeightedBackend& backend : backends) weight = std::max(weight, backend.weight);
  return weight;
}

}  // namespace

Dx::Dx(uint64_t seed, uint32_t place_count, uint64_t scale)
    : seed_(seed),
      salt_(seed_salt(seed)),
      level_shift_(63 - static_cast<unsigned>(std::countr_zero(scale))),
      places_(place_count) {
  for (uint32_t place = 0; place < place_count; ++place) free_.push_back(place);
}

Result<Dx> Dx::create(const Config& config) {
  const uint64_t places =
      std::max({uint64_t{config.place_count_min}, uint64_t{config.backends.size()}, uint64_t{1}});
  if (places > kPlaceCountMax) {
    return Error{"DxHash for " + std::to_string(places) + " backends; use at most " +
                 std::to_string(kPlaceCountMax)};
  }
  const uint64_t scale = std::bit_ceil(
      std::max({uint64_t{config.weight_max}, uint64_t{heaviest(config.backends)}, uint64_t{1}}));
  const Dx empty(config.seed, std::bit_ceil(static_cast<uint32_t>(places)), scale);
  return empty.next(config.backends);
}

Result<Dx> Dx::next(std::span<const WeightedBackend> backends) const {
  if (std::optional<Error> error = refuse_backends(backends)) return *std::move(error);
  const auto count = static_cast<uint32_t>(backends.size());
  if (count > place_count() || heaviest(backends) > scale()) {
    return create({backends, seed_, std::max(count, place_count()),
                   static_cast<uint32_t>(std::min<uint64_t>(scale(), UINT32_MAX))});
  }
  Dx made = *this;
  made.backends_.assign(backends.begin(), backends.end());
  const std::vector<uint16_t> indices = indices_by_name(backends_, backends);
  std::vector<bool> has_place(count);
  for (uint32_t place = 0; place < place_count(); ++place) {
    const uint16_t before = places_[place].owner;
    if (before == kNoBackend) continue;
    const uint16_t owner = indices[before];
    made.places_[place] = {};
    if (owner == kNoBackend) {
      made.free_.push_back(place);
    } else {
      made.places_[place] = {backends[owner].weight, owner};
      has_place[owner] = true;
    }
  }
  std::vector<uint16_t> comers;
  for (uint32_t i = 0; i < count; ++i) {
    if (!has_place[i]) comers.push_back(static_cast<uint16_t>(i));
  }
  std::ranges::sort(comers, {}, [&](uint16_t i) { return backends[i].name; });
  for (const uint16_t owner : comers) {
    made.places_[made.free_.front()] = {backends[owner].weight, owner};
    made.free_.pop_front();
  }
  made.has_weight_ = heaviest(backends) != 0;
  if (std::optional<Error> error = made.refuse_draws()) return *std::move(error);
  return made;
}

std::optional<Error> Dx::refuse_draws() const {
  uint64_t weight_sum = 0;
  for (const WeightedBackend& backend : backends_) weight_sum += backend.weight;
  if (weight_sum == 0 || places_.size() * scale() / weight_sum <= kDrawsMax) return std::nullopt;
  return Error{"DxHash would draw more than " + std::to_string(kDrawsMax) +
               " times for a flow; bring the weights closer together, or make less room"};
}

}  // namespace roost::balance

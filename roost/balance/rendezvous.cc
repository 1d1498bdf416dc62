#include "roost/balance/rendezvous.h"

#include <array>
#include <bit>

#include "roost/balance/flow_draw.h"
#include "roost/balance/name_hash.h"

namespace roost::balance {
namespace {

constexpr unsigned kStepBits = 8;
constexpr size_t kSteps = size_t{1} << kStepBits;

// log2 of a number from 1 to 2 that is given in units of 2^-31, in units of 2^-32. Squaring a
// number doubles its logarithm: its whole part is the next bit.
constexpr uint64_t log2_of(uint64_t number) {
  uint64_t logarithm = 0;
  for (unsigned bit = 32; bit-- > 0;) {
    number = number * number >> 31;
    if (number >> 32 != 0) {
      number >>= 1;
      logarithm |= uint64_t{1} << bit;
    }
  }
  return logarithm;
}

constexpr std::array<uint64_t, kSteps + 1> make_steps() {
  std::array<uint64_t, kSteps + 1> steps{};
  for (size_t i = 0; i < kSteps; ++i) {
    steps[i] = log2_of((uint64_t{1} << 31) + (uint64_t{i} << (31 - kStepBits)));
  }
  steps[kSteps] = uint64_t{1} << 32;
  return steps;
}

constexpr std::array<uint64_t, kSteps + 1> kLog2 = make_steps();
static_assert(kLog2[0] == 0 && kLog2[kSteps / 2] >> 8 == 0x95'c01a, "log2(1.5) is 0.5849625");

}  // namespace

uint64_t negative_log2(uint64_t draw) {
  const auto zeroes = static_cast<unsigned>(std::countl_zero(draw | 1));
  const uint64_t scaled = (draw | 1) << zeroes;  // its highest bit is set
  const uint64_t step = (scaled >> (63 - kStepBits)) & (kSteps - 1);
  const uint64_t within = (scaled >> (31 - kStepBits)) & 0xffff'ffff;
  const uint64_t logarithm = kLog2[step] + ((kLog2[step + 1] - kLog2[step]) * within >> 32);
  return (uint64_t{zeroes + 1} << 32) - logarithm;
}

Result<Rendezvous> Rendezvous::create(const Config& config) {
  if (std::optional<Error> error = refuse_backends(config.backends)) return *std::move(error);
  Rendezvous made(config.seed);
  for (const uint16_t index : weighted_by_name(config.backends)) {
    const WeightedBackend& backend = config.backends[index];
    made.players_.push_back(
        {name_hash(backend.name, config.seed).first, 1.0 / backend.weight, index});
  }
  return made;
}

std::optional<size_t> Rendezvous::pick(uint64_t flow_hash) const {
  const Player* best = nullptr;
  double least_cost = 0;
  for (const Player& player : players_) {
    const uint64_t cost_of_one = negative_log2(flow_draw(flow_hash, player.salt));
    // One product, which is rounded alike everywhere.
    const double cost = static_cast<double>(cost_of_one) * player.inverse_weight;
    if (best != nullptr && cost >= least_cost) continue;
    best = &player;
    least_cost = cost;
  }
  if (best == nullptr) return std::nullopt;
  return best->index;
}

}  // namespace roost::balance

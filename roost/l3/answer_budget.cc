#include "roost/l3/answer_budget.h"

#include <algorithm>
#include <array>
#include <bit>

namespace roost::l3 {

namespace {

constexpr double kAnswersPerSecond = 1'000;
constexpr double kAnswersPerSecondToOne = 50;
constexpr uint32_t kAnswersAtOnceMin = 50;

// Within a tick nothing is added, so that a long tick needs a large bucket.
TokenBucket bucket_of(double per_second, double tick_seconds) {
  const double per_tick = std::min(per_second * tick_seconds, per_second);
  const auto tokens = static_cast<uint32_t>(std::max(per_tick, 1.0));
  const auto ticks = static_cast<uint32_t>(std::max(1 / per_tick, 1.0));
  return TokenBucket({.tokens_max = std::max(tokens, kAnswersAtOnceMin),
                      .tokens_per_step = tokens,
                      .ticks_per_step = ticks});
}

}  // namespace

AnswerBudget::AnswerBudget(double tick_seconds, uint64_t hash_seed)
    : all_(bucket_of(kAnswersPerSecond, tick_seconds)),
      by_destination_(kDestinations, bucket_of(kAnswersPerSecondToOne, tick_seconds)),
      hash_(hash_seed) {}

// The destination's own budget first: one that has used that up takes nothing of the others'. In
// IPv6 a /64 network is one destination, for one host can use all its addresses.
bool AnswerBudget::take(Tick now, const net::IpAddress& destination) {
  const uint64_t network = destination.is_ipv6()
                               ? std::bit_cast<std::array<uint64_t, 2>>(destination.ipv6())[0]
                               : std::bit_cast<uint32_t>(destination.ipv4());
  const uint64_t hash = hash_.hash<sizeof network>(&network).bits;
  return by_destination_[hash % kDestinations].take(now) && all_.take(now);
}

}  // namespace roost::l3

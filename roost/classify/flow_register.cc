// See flow_register.h.
#include "roost/classify/flow_register.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "roost/base/assert.h"

namespace roost::classify {

FlowRegister::Config FlowRegister::Config::of_cache(uint32_t entries) {
  const uint32_t flows = std::clamp<uint32_t>(entries, 32, 1 << 24);
  return {.bits = std::bit_ceil(flows),
          .window_packets = 4 * flows,
          .flows_off = flows,
          .flows_on = flows / 2};
}

FlowRegister::FlowRegister(const Config& config)
    : config_(config), words_((uint64_t{config.bits} + 63) / 64) {
  ROOST_ASSERT(std::has_single_bit(config.bits) && config.bits >= 32);
  ROOST_ASSERT(config.window_packets > 0 && config.flows_on < config.flows_off);
  ROOST_ASSERT(config.lookups_off < config.lookups_on);
}

FlowRegister::Estimate FlowRegister::estimate_of(uint32_t bits, uint32_t unset) {
  // Saturated: the estimate of one bit unset, which is the most that can be told.
  const double left = unset == 0 ? 1 : unset;
  return {.flows = bits * std::log(bits / left), .is_saturated = unset == 0};
}

FlowRegister::Estimate FlowRegister::estimate() const {
  uint32_t set = 0;
  for (const uint64_t word : words_) set += static_cast<uint32_t>(std::popcount(word));
  return estimate_of(config_.bits, config_.bits - set);
}

void FlowRegister::decide() {
  const bool has_many_flows = last_.is_saturated || last_.flows > config_.flows_off;
  const bool has_few_flows = !last_.is_saturated && last_.flows < config_.flows_on;
  const bool is_known = searched_ != 0;
  const double mean = is_known ? static_cast<double>(lookups_) / static_cast<double>(searched_) : 0;
  if (has_many_flows || (is_known && mean < config_.lookups_off)) {
    is_used_ = false;
  } else if (has_few_flows && is_known && mean >= config_.lookups_on) {
    is_used_ = true;
  }
}

bool FlowRegister::end_batch(uint32_t packets, uint32_t searched, uint64_t lookups) {
  if (is_sampling()) ++samples_;
  packets_ += packets;
  searched_ += searched;
  lookups_ += lookups;
  if (packets_ < config_.window_packets) return false;
  packets_ = 0;
  samples_ = 0;
  const bool was_counting = is_counting();
  ++window_;
  const bool was_used = is_used_;
  if (was_counting) {
    last_ = estimate();
    std::ranges::fill(words_, 0);
    decide();
    if (was_used && !is_used_) window_ = 1;  // the next that counts is kWindowsApart away
  }
  searched_ = 0;
  lookups_ = 0;
  return was_used != is_used_;
}

}  // namespace roost::classify

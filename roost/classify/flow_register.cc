// See flow_register.h.
#include "roost/classify/flow_register.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "roost/base/assert.h"

namespace roost::classify {

FlowRegister::FlowRegister(const Config& config)
    : config_(config), words_((uint64_t{config.bits} + 63) / 64) {
  ROOST_ASSERT(std::has_single_bit(config.bits) && config.bits >= 32);
  ROOST_ASSERT(config.window_packets > 0 && config.flows_on < config.flows_off);
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

bool FlowRegister::end_batch(uint32_t packets) {
  packets_ += packets;
  if (packets_ < config_.window_packets) return false;
  packets_ = 0;
  const bool was_counting = is_counting();
  ++window_;
  if (!was_counting) return false;
  last_ = estimate();
  std::ranges::fill(words_, 0);
  const bool was_used = is_used_;
  if (last_.is_saturated || last_.flows > config_.flows_off) is_used_ = false;
  if (!last_.is_saturated && last_.flows < config_.flows_on) is_used_ = true;
  if (was_used && !is_used_) window_ = 1;  // the next window that counts is kWindowsApart away
  return was_used != is_used_;
}

}  // namespace roost::classify

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

FlowRegister::Estimate FlowRegister::estimate() const {
  uint64_t set = 0;
  for (const uint64_t word : words_) set += static_cast<uint64_t>(std::popcount(word));
  const double bits = config_.bits;
  const double unset = bits - static_cast<double>(set);
  // Saturated: the estimate of one bit unset, which is the most that can be told.
  if (unset == 0) return {.flows = bits * std::log(bits), .is_saturated = true};
  return {.flows = bits * std::log(bits / unset)};
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

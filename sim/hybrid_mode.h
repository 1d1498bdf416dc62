// Whether a program looks keys up by itself or by an accelerator (HALO, section 4.6): by itself
// while few flows are active, whose entries its L1D holds.
//
// At the end of each window somebody reads a flow register: that of an accelerator, which counts
// the flows of all tables whose queries come there and of all cores; or a program's own, which
// counts while it does not ask the accelerator. Two thresholds: an estimate from 32 bits is off by
// a fifth at 64 flows, and with one threshold it would switch back and forth. A saturated register
// is many flows.
#pragma once

#include <cstdint>

#include "roost/classify/flow_register.h"
#include "sim/parameters.h"

namespace roost::sim {

class HybridMode {
 public:
  explicit HybridMode(const Parameters& parameters)
      : bits_(parameters.accelerator_flow_bits),
        to_software_(parameters.hybrid_flows_to_software),
        to_accelerator_(parameters.hybrid_flows_to_accelerator) {}

  // Of the windows so far. It begins with the accelerator.
  [[nodiscard]] bool uses_accelerator() const { return uses_accelerator_; }

  // A window has ended with so many bits of its register unset; which mode the next one has.
  bool end_window(uint32_t unset_bits) {
    const classify::FlowRegister::Estimate estimate =
        classify::FlowRegister::estimate_of(bits_, unset_bits);
    const bool was = uses_accelerator_;
    if (estimate.is_saturated || estimate.flows > to_accelerator_) uses_accelerator_ = true;
    if (!estimate.is_saturated && estimate.flows < to_software_) uses_accelerator_ = false;
    switches_ += was != uses_accelerator_ ? 1 : 0;
    return uses_accelerator_;
  }
  [[nodiscard]] uint64_t switch_count() const { return switches_; }

 private:
  uint32_t bits_;
  uint32_t to_software_;
  uint32_t to_accelerator_;
  bool uses_accelerator_ = true;
  uint64_t switches_ = 0;
};

}  // namespace roost::sim

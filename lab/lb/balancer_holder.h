// A load balancer as a bench holds one (lab/packets/packet_runner.h): with all flows in its table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lab/lb/balancer.h"
#include "lab/lb/fill_flows.h"

namespace roost::lab {

template <class Tables>
class BalancerHolder {
 public:
  using Function = lb::BasicDatapath<Tables>;

  explicit BalancerHolder(std::unique_ptr<Balancer<Tables>> balancer)
      : balancer_(std::move(balancer)) {}

  [[nodiscard]] Function& function() { return balancer_->datapath(); }
  [[nodiscard]] std::optional<Error> fill(std::span<const uint32_t> flows, Tick now) {
    flow_count_ = flows.size();
    return fill_flows(function(), flows, now);
  }
  [[nodiscard]] std::optional<Error> wrong() {
    auto tracker = balancer_->state().tracker();
    return wrong_flows(flow_count_, tracker.counts().created, tracker.count_live());
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return balancer_->state().ipv4().connections().memory_bytes();
  }
  [[nodiscard]] PageKind page_kind() const {
    return balancer_->state().ipv4().connections().page_kind();
  }

 private:
  std::unique_ptr<Balancer<Tables>> balancer_;
  uint64_t flow_count_ = 0;
};

}  // namespace roost::lab

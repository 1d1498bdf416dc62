// DPDK's packet classification library over the rules that the firewall has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "roost/acl/rule_config.h"
#include "roost/base/result.h"
#include "roost/net/flow_key.h"

struct rte_acl_ctx;

namespace roost::lab {

// EAL must run.
class AclFilter {
 public:
  // What it looks at of a packet, in network order.
  struct alignas(4) Tuple {
    uint8_t protocol = 0;
    std::array<uint8_t, 3> zero{};
    net::Ipv4Address source{};
    net::Ipv4Address destination{};
    std::array<uint8_t, 2> source_port{};
    std::array<uint8_t, 2> destination_port{};
  };
  static_assert(sizeof(Tuple) == 16);

  // Of rules with at most one network a side and one range of each port. It looks packets up by the
  // widest registers that the processor has and EAL allows. Errors: the library refuses the
  // rules.
  static Result<AclFilter> create(std::span<const acl::RuleConfig> rules);

  static Tuple tuple_of(const net::FlowKey4& key);
  // By packet, the place of the first rule that matches; one must.
  void find(std::span<const Tuple* const> packets, std::span<uint32_t> places) const;
  // By which of the library's algorithms.
  [[nodiscard]] std::string_view algorithm() const { return algorithm_; }

 private:
  struct Free {
    void operator()(rte_acl_ctx* context) const;
  };

  AclFilter(std::unique_ptr<rte_acl_ctx, Free> context, std::string_view algorithm)
      : context_(std::move(context)), algorithm_(algorithm) {}

  std::unique_ptr<rte_acl_ctx, Free> context_;
  std::string_view algorithm_;
};

}  // namespace roost::lab

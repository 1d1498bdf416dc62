// A NAT as a bench holds one (lab/packets/packet_runner.h): each flow of lab/lb/flows.h is an
// inside host's, with a mapping and a connection of its own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/functions/record_nat.h"
#include "lab/lb/fill_flows.h"
#include "roost/base/result.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/routing/routing_table.h"

namespace roost::lab {

struct NatSettings {
  uint64_t mappings = 0;
  uint64_t hash_seed = 1;
};
// Its first port is inside and its second one outside; external addresses enough for the mappings.
[[nodiscard]] std::string nat_toml(const NatSettings& settings);

// The bench has one port. So what the NAT sends by its second one leaves by that.
template <class Tables>
class OnePortNat {
 public:
  explicit OnePortNat(nat::BasicState<Tables>& state) : datapath_(state) {}

  void process(net::PacketBatch& batch, Tick now) {
    datapath_.process(batch, now);
    for (net::LaneVerdict& verdict : batch.verdicts()) {
      if (verdict.is_forward()) verdict = net::LaneVerdict::forward(0);
    }
  }
  void idle(Tick now, uint64_t budget) { datapath_.idle(now, budget); }
  [[nodiscard]] net::Outbox& outbox() { return datapath_.outbox(); }

 private:
  nat::BasicDatapath<Tables> datapath_;
};

template <class Tables>
class NatHolder {
 public:
  using Function = OnePortNat<Tables>;

  // EAL must run. Errors: memory.
  static Result<std::unique_ptr<NatHolder>> create(const NatSettings& settings,
                                                   const Tables& tables) {
    nat::ConfigOutcome outcome = nat::parse_config(nat_toml(settings));
    if (!outcome.config)
      return Error{config::describe(outcome.faults.front(), "the configuration")};
    auto table = routing::RoutingTable::create(outcome.config->network);
    if (!table) return table.error();
    outcome.config->table = table.value();
    const std::vector<net::MacAddress> macs(outcome.config->network.ports.size());
    auto state = nat::BasicState<Tables>::create(
        *outcome.config, {.worker = 0, .worker_count = 1, .device_macs = macs}, tables);
    if (!state) return state.error();
    return std::unique_ptr<NatHolder>(new NatHolder(std::move(state).value()));
  }

  [[nodiscard]] Function& function() { return nat_; }
  [[nodiscard]] std::optional<Error> fill(std::span<const uint32_t> flows, Tick now) {
    flow_count_ = flows.size();
    return fill_flows(nat_, flows, now);
  }
  // Every packet got its source, every connection and its mapping are there.
  [[nodiscard]] std::optional<Error> wrong() {
    const nat::TranslationCounters& counters = state_.counters();
    if (counters.untranslated + counters.inbound + counters.hairpinned != 0)
      return Error{"packets were not translated on their way out"};
    if (state_.held().mappings.live_count() != flow_count_) {
      return Error{fmt::format("of {} mappings {} are live", flow_count_,
                               state_.held().mappings.live_count())};
    }
    auto& connections = state_.tracker().connections();
    return wrong_flows(flow_count_, connections.counts().created, connections.count_live());
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return state_.tracker().connections().memory_bytes();
  }
  [[nodiscard]] PageKind page_kind() const { return state_.tracker().connections().page_kind(); }

 private:
  explicit NatHolder(nat::BasicState<Tables> state) : state_(std::move(state)), nat_(state_) {}

  mutable nat::BasicState<Tables> state_;
  OnePortNat<Tables> nat_;
  uint64_t flow_count_ = 0;
};

}  // namespace roost::lab

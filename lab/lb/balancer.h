// A load balancer in a measuring process: the program's own state and datapath, over some tables.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/datapath/datapath_impl.h"
#include "apps/lb/datapath/family_beginnings_impl.h"
#include "apps/lb/datapath/family_errors_impl.h"
#include "apps/lb/datapath/family_path_impl.h"
#include "apps/lb/datapath/family_proxy_impl.h"
#include "apps/lb/datapath/family_translation_impl.h"
#include "apps/lb/datapath/state_impl.h"
#include "lab/lb/flows.h"
#include "roost/base/result.h"
#include "roost/node/flow_owner.h"

namespace roost::lab {

// It stays where it is.
template <class Tables>
class Balancer {
 public:
  static Result<std::unique_ptr<Balancer>> create(
      const BalancerSettings& settings, const node::FlowOwner& owner = node::FlowOwner({}),
      const Tables& tables = {}) {
    const lb::ConfigOutcome outcome = lb::parse_config(balancer_toml(settings));
    if (!outcome.config)
      return Error{config::describe(outcome.faults.front(), "the configuration")};
    const std::vector<net::MacAddress> macs(outcome.config->network.ports.size());
    auto state = lb::BasicState<Tables>::create(
        *outcome.config, macs, {.worker = owner.worker(), .worker_count = owner.worker_count()},
        tables);
    if (!state) return state.error();
    return std::unique_ptr<Balancer>(new Balancer(std::move(state).value(), owner));
  }

  [[nodiscard]] lb::BasicState<Tables>& state() { return state_; }
  [[nodiscard]] lb::BasicDatapath<Tables>& datapath() { return datapath_; }

 private:
  Balancer(lb::BasicState<Tables> state, const node::FlowOwner& owner)
      : state_(std::move(state)), datapath_(state_, owner) {}

  lb::BasicState<Tables> state_;
  lb::BasicDatapath<Tables> datapath_;
};

}  // namespace roost::lab

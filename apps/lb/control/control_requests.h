// What the control thread asks of a worker, as requests that the worker runs between two batches.
// Each has all the memory it needs before it is posted.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/lb/control/report.h"
#include "apps/lb/datapath/state.h"
#include "roost/base/counter.h"
#include "roost/control/sample_request.h"
#include "roost/node/mailbox.h"

namespace roost::lb {

// What each number says: kTableCounters.
struct TableSample {
  uint64_t used = 0;
  uint64_t capacity = 0;
  uint64_t bytes = 0;
  PageKind page_kind{};
  Isa isa{};
};
inline constexpr std::array kTableCounters = {
    // Live ones, and expired ones not reclaimed yet.
    Counter{"used", &TableSample::used, "entries held by the table of connections"}.with_metric(
        "table_entries"),
    Counter{"capacity", &TableSample::capacity, "slots of the table of connections"}.with_metric(
        "table_capacity_entries"),
    Counter{"bytes", &TableSample::bytes,
            "memory of the tables of a family, of those of fragments too"}
        .with_metric("table_bytes")};

// Every number of a worker.
class SampleRequest final : public control::SampleRequest {
 public:
  // For a worker whose services stand in this registry.
  SampleRequest(const control::WorkerHandle& worker, const State& state,
                const BackendRegistry& registry, size_t port_count);
  bool step() override;

  FlowCounts flows;
  conntrack::FragmentReport fragments;
  l3::ResetCounters resets;
  std::array<TableSample, 2> tables;                     // IPv4, IPv6
  std::array<std::vector<BackendCounters>, 2> backends;  // by family and index
  BackendCounters forgotten;

 private:
  static constexpr size_t kCountersAStep = 1'024;

  const State& state_;
  size_t family_ = 0;
  size_t next_backend_ = 0;
};

class SetTimeoutsRequest final : public node::Request {
 public:
  SetTimeoutsRequest(State& state, const StateTimeouts& timeouts)
      : state_(state), timeouts_(timeouts) {}
  bool step() override {
    state_.set_timeouts(timeouts_);
    return true;
  }

 private:
  State& state_;
  StateTimeouts timeouts_;
};

// New weights of some services; a service a step.
class SetWeightsRequest final : public node::Request {
 public:
  struct Change {
    bool is_ipv6 = false;
    uint32_t service = 0;  // in the family's ServiceTable
    std::vector<uint32_t> weights;
    BackendChoice choice;
  };
  SetWeightsRequest(State& state, std::vector<Change> changes)
      : state_(state), changes_(std::move(changes)) {}
  bool step() override;

 private:
  State& state_;
  std::vector<Change> changes_;
  size_t next_ = 0;
};

// A new configuration, in one step: linear in the number of backends, about a cache line each.
class UpdateRequest final : public node::Request {
 public:
  // `announces`: of the one worker that announces the addresses.
  UpdateRequest(State& state, StateUpdate update, bool announces)
      : state_(state), update_(std::move(update)), announces_(announces) {}
  bool step() override {
    state_.exchange(update_);
    if (announces_) state_.announce();
    return true;
  }

 private:
  State& state_;
  StateUpdate update_;  // afterwards what it replaced, to be freed by the requester
  bool announces_;
};

}  // namespace roost::lb

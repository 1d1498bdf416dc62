// What the control thread asks of a worker, as requests that the worker runs between two batches.
// Each has all the memory it needs before it is posted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/lb/control/report.h"
#include "apps/lb/datapath/state.h"
#include "roost/control/sample_request.h"
#include "roost/node/mailbox.h"

namespace roost::lb {

struct TableSample {
  uint64_t used = 0;  // live ones, and expired ones not reclaimed yet
  uint64_t capacity = 0;
  uint64_t bytes = 0;
  PageKind page_kind{};
  Isa isa{};
};

// Every number of a worker.
class SampleRequest final : public control::SampleRequest {
 public:
  // For a worker whose services stand in this registry.
  SampleRequest(const control::WorkerHandle& worker, const State& state,
                const BackendRegistry& registry, size_t port_count);
  bool step() override;

  FlowCounts flows;
  FragmentReport fragments;
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
    balance::Maglev maglev;
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
  // `announces`: of the one worker that tells the networks of the addresses.
  UpdateRequest(State& state, StateUpdate update, bool announces)
      : state_(state), update_(std::move(update)), announces_(announces) {}
  bool step() override {
    state_.exchange(update_);
    if (announces_) state_.announce();
    return true;
  }

 private:
  State& state_;
  StateUpdate update_;  // afterwards what it replaced, to be freed by whoever asked
  bool announces_;
};

// Which connections are meant.
struct FlowFilter {
  std::array<std::vector<bool>, 2> backends;  // of each family: which backends
  std::array<bool, conntrack::kConnectionStateCount> states{};
  std::array<bool, conntrack::kFlowClassCount> classes{};
  std::optional<net::IpPrefix> client{};
};

struct FlowRow {
  net::IpAddress client{};
  uint16_t client_port = 0;
  uint32_t backend = 0;                                        // in the family's ServiceTable
  std::optional<std::pair<net::IpAddress, uint16_t>> local{};  // with which the backend speaks
  ConnectionState state{};
  FlowClass flow_class{};
};

// Where a walk over a worker's connections is: IPv4 first, then IPv6.
struct FlowPlace {
  size_t family = 0;  // 2: at the end
  uint64_t slot = 0;

  [[nodiscard]] bool is_end() const { return family == 2; }
};

// Walks over the connections of a worker, and lists, counts or deletes those that a filter admits.
class FlowsRequest final : public node::Request {
 public:
  enum class Action : uint8_t { kList, kCount, kDelete };
  struct Config {
    Action action = Action::kList;
    const FlowFilter* filter = nullptr;  // must outlive the request
    FlowPlace place{};
    size_t rows_max = 0;  // to be listed; at least kRowsMin
  };
  static constexpr size_t kRowsMin = ConnectionTable<net::Ipv4Address>::kWalkBucketConnectionsMax;

  FlowsRequest(State& state, const Config& config);
  bool step() override;

  FlowPlace place;            // where it stopped
  std::vector<FlowRow> rows;  // listed
  uint64_t matched = 0;       // listed, counted or deleted
  uint64_t visited = 0;
  // Counted: by family, then backend and state.
  std::array<std::vector<std::array<uint64_t, conntrack::kConnectionStateCount>>, 2> counts;
  std::array<uint64_t, conntrack::kFlowClassCount> class_counts{};

 private:
  // A bucket is a cache line or two that nobody asked for: some microseconds a turn.
  static constexpr int kBucketsAStep = 64;

  template <class Address>
  bool walk_bucket(Family<Address>& family);
  template <class Address>
  bool meets(Family<Address>& family, const net::FlowKey<Address>& key,
             const Connection& connection, bool& is_deleted);

  State& state_;
  Config config_;
  bool is_page_full_ = false;
};

}  // namespace roost::lb

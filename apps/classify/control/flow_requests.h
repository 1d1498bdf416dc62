// What the control thread asks of workers about flows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/classify/datapath/state.h"
#include "roost/base/result.h"
#include "roost/node/mailbox.h"
#include "roost/openflow/flow_tables.h"

namespace roost::classifying {

// Adds a flow behind those of its match, which answers nothing while another one of the same match
// and priority is there.
class AddRequest final : public node::Request {
 public:
  AddRequest(State& state, const openflow::Flow& flow) : state_(state), flow_(flow) {}
  bool step() override {
    if (std::exchange(is_done_, true)) return true;
    added_ = state_.pipeline().tables().add(flow_);
    return true;
  }
  // Once it was run.
  [[nodiscard]] const Result<openflow::FlowId>& added() const { return added_; }

 private:
  State& state_;
  const openflow::Flow& flow_;
  Result<openflow::FlowId> added_ = Error{"the worker did not answer"};
  bool is_done_ = false;
};

// Erases flows, some at a time.
class EraseRequest final : public node::Request {
 public:
  EraseRequest(State& state, std::vector<openflow::FlowId> ids)
      : state_(state), ids_(std::move(ids)) {}
  bool step() override;

 private:
  static constexpr size_t kFlowsOfStep = 16;  // each compares all megaflows

  State& state_;
  std::vector<openflow::FlowId> ids_;
  size_t next_ = 0;
};

// Puts other tables in the place of a worker's, which are the request's afterwards.
class ExchangeRequest final : public node::Request {
 public:
  ExchangeRequest(State& state, std::unique_ptr<openflow::FlowTables> tables)
      : state_(state), tables_(std::move(tables)) {}
  bool step() override {
    if (!std::exchange(is_done_, true)) state_.pipeline().exchange(tables_);
    return true;
  }
  [[nodiscard]] const openflow::FlowTables& before() const { return *tables_; }

 private:
  State& state_;
  std::unique_ptr<openflow::FlowTables> tables_;
  bool is_done_ = false;
};

// What flows have counted.
class CountsRequest final : public node::Request {
 public:
  CountsRequest(const State& state, std::vector<openflow::FlowId> ids)
      : state_(state), ids_(std::move(ids)) {
    counts_.reserve(ids_.size());
  }
  bool step() override;
  // In the order of the names.
  [[nodiscard]] std::span<const classify::RuleTable::Counts> counts() const { return counts_; }

 private:
  static constexpr size_t kFlowsOfStep = 1'024;

  const State& state_;
  std::vector<openflow::FlowId> ids_;
  std::vector<classify::RuleTable::Counts> counts_{};
};

// The masks of a table, in the order in which they are searched, and what is cached of it.
struct TableMasks {
  std::vector<classify::PacketFields> masks{};
  std::vector<uint64_t> rules{};  // of each mask
  uint64_t megaflows = 0;
  uint64_t megaflow_masks = 0;
  double active_flows = 0;
  bool is_cache_used = false;
};
class MasksRequest final : public node::Request {
 public:
  explicit MasksRequest(const State& state) : state_(state) {}
  bool step() override;
  [[nodiscard]] std::span<const TableMasks> tables() const { return tables_; }

 private:
  const State& state_;
  std::vector<TableMasks> tables_{openflow::kTablesMax};
};

}  // namespace roost::classifying

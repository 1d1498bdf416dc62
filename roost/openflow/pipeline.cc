#include "roost/openflow/pipeline.h"

#include <algorithm>
#include <variant>

#include "roost/base/assert.h"
#include "roost/net/parse_cause.h"
#include "roost/openflow/flow_causes.h"
#include "roost/openflow/flow_words.h"

namespace roost::openflow {

using classify::Answer;
using classify::Field;

namespace {

// Of a packet without fields.
net::DropCause cause_of(const FlowPacket& packet) {
  return net::drop_cause_of(packet.verdict()).value_or(net::DropCause::kBadHeader);
}

// Only what is in one buffer is copied.
bool is_whole(const net::Packet& packet) { return packet.contiguous_bytes == packet.total_bytes; }

}  // namespace

// True: the lane goes on with its next action.
struct Pipeline::Perform {
  Pipeline& pipeline;
  size_t number;
  Lane& lane;

  bool operator()(const Output& action) const {
    const auto port = static_cast<uint16_t>(action.port - 1);
    if (port == lane.packet.packet().in_port) {
      lane.cause = kToInPort;
    } else {
      lane.ports.push_back(port);
    }
    return true;
  }
  bool operator()(const OutputToInPort&) const {
    lane.ports.push_back(lane.packet.packet().in_port);
    return true;
  }
  bool operator()(const SetField& action) const {
    if (!is_register(action.field)) pipeline.send_copies(lane);
    lane.packet.set_field(action);
    return true;
  }
  bool operator()(const DecrementTtl&) const {
    pipeline.send_copies(lane);
    if (lane.packet.decrement_ttl()) return true;
    lane.cause = net::DropCause::kTtlExpired;
    lane.at.actions = {};  // this list ends, those that resubmitted go on
    return true;
  }
  bool operator()(const PushVlan& action) const {
    pipeline.send_copies(lane);
    if (!lane.packet.push_vlan(action.eth_type)) return stop(net::DropCause::kNoHeadroom);
    return goes_on_as_read();
  }
  bool operator()(const PopVlan&) const {
    pipeline.send_copies(lane);
    lane.packet.pop_vlan();
    return goes_on_as_read();
  }
  bool operator()(const Resubmit& action) const {
    if (lane.behind.size() == kResubmitDepthMax) return stop(kTooManyLookups);
    const uint8_t table = action.table.value_or(lane.at.table);
    lane.behind.push_back(lane.at);
    lane.as_if_from = action.port;
    return pipeline.wait_at(table, number);
  }
  bool operator()(const GotoTable& action) const { return pipeline.wait_at(action.table, number); }
  bool operator()(const Track& action) const {
    ROOST_ASSERT(pipeline.tracker_.has_value());
    const auto state = pipeline.tracker_->track(lane.packet, action.commits);
    if (!state) return stop(net::DropCause::kTableFull);
    if (!action.table) return true;
    if (lane.at.actions.empty() && lane.behind.empty()) {
      lane.packet.set_connection_state(*state);
      return pipeline.wait_at(*action.table, number);
    }
    if (!pipeline.branch_off(lane, *state, *action.table)) ++pipeline.counters_.copies_lost;
    return true;
  }

  // What stands behind a tag that is gone may be no packet at all.
  bool goes_on_as_read() const {
    if (classify::has_fields(lane.packet.verdict())) return true;
    return stop(cause_of(lane.packet));
  }
  // Nothing more is sent of it.
  bool stop(net::DropCause cause) const {
    lane.cause = cause;
    lane.ports.clear();
    lane.behind.clear();
    return false;
  }
};

void Pipeline::read(net::PacketBatch& batch) {
  left_ = {};
  for (size_t lane = 0; lane < batch.lane_count(); ++lane)
    static_cast<void>(lanes_[lane].packet.read(batch.packets()[lane]));
}

void Pipeline::decide(net::PacketBatch& batch, net::Outbox& outbox, Tick now) {
  outbox_ = &outbox;
  tables_->advance(now);
  if (tracker_) tracker_->advance(now);
  for (unsigned lane = 0; lane < batch.lane_count(); ++lane) {
    if (!left_.has(lane)) begin(lane);
  }
  run();
  for (unsigned lane = 0; lane < batch.lane_count(); ++lane) {
    if (!left_.has(lane)) finish(batch, lane);
  }
  for (size_t i = 0; i < branch_count_; ++i) run_branch(branches_[i]);
  branch_count_ = 0;
}

void Pipeline::run() {
  while (true) {
    const auto waiting =
        std::ranges::find_if(waiting_, [](const Lanes& lanes) { return !lanes.empty(); });
    if (waiting == waiting_.end()) return;
    const Lanes lanes = std::exchange(*waiting, Lanes{});
    for (const unsigned lane : look_up(static_cast<size_t>(waiting - waiting_.begin()), lanes))
      go_on(lane);
  }
}

void Pipeline::Lane::begin() {
  at = {};
  behind.clear();
  ports.clear();
  lookups = 0;
  as_if_from.reset();
  cause = kNoRule;
  is_copied = false;
}

void Pipeline::begin(size_t number) {
  Lane& lane = lanes_[number];
  lane.begin();
  if (classify::has_fields(lane.packet.verdict())) {
    static_cast<void>(wait_at(0, number));
  } else {
    lane.cause = cause_of(lane.packet);
  }
}

bool Pipeline::branch_off(const Lane& lane, uint8_t connection_state, uint8_t table) {
  const net::Packet& packet = lane.packet.packet();
  if (!is_whole(packet) || branch_count_ == kBranchesMax) return false;
  if (branch_count_ == branches_.size()) branches_.emplace_back();
  constexpr uint32_t kHeadroom = 4 * net::vlan::kTagBytes;
  Branch& branch = branches_[branch_count_++];
  branch.bytes.resize(kHeadroom + packet.total_bytes);
  std::copy_n(packet.data, packet.total_bytes, branch.bytes.begin() + kHeadroom);
  branch.packet = lane.packet;
  branch.packet.move_to(branch.bytes.data() + kHeadroom, kHeadroom);
  branch.packet.set_connection_state(connection_state);
  branch.table = table;
  branch.lookups = lane.lookups;
  return true;
}

// What is sent of it is copied once more; and it may branch off again.
void Pipeline::run_branch(Branch& branch) {
  Lane& lane = lanes_[0];
  lane.begin();
  lane.packet = branch.packet;
  lane.lookups = branch.lookups;
  if (!wait_at(branch.table, 0)) run();
  send_copies(lane);
  if (!lane.is_copied) ++counters_.copies_dropped;
}

bool Pipeline::wait_at(size_t table, size_t number) {
  Lane& lane = lanes_[number];
  if (lane.lookups == kLookupsMax) return Perform{*this, number, lane}.stop(kTooManyLookups);
  ++lane.lookups;
  lane.at = {.table = static_cast<uint8_t>(table)};
  if (tables_->table(table) == nullptr) {
    lane.as_if_from.reset();
    return true;
  }
  waiting_[table] |= Lanes::of(static_cast<unsigned>(number));
  return false;
}

LaneMask Pipeline::look_up(size_t table, Lanes lanes) {
  auto& [fields, others, bytes, answers] = asked_;
  size_t count = 0;
  for (const unsigned number : lanes) {
    Lane& lane = lanes_[number];
    fields[count] = &lane.packet.fields();
    if (lane.as_if_from) {
      others[count] = lane.packet.fields();
      set(others[count], Field::kInPort, *lane.as_if_from);
      fields[count] = &others[count];
      lane.as_if_from.reset();
    }
    if (kept_lookups_) [[unlikely]] {
      kept_lookups_->push_back(
          {static_cast<uint8_t>(table), tables_->table(table)->explain(*fields[count])});
    }
    bytes[count++] = lane.packet.packet().total_bytes;
  }
  counters_.lookups += count;
  tables_->table(table)->classify(
      std::span<const classify::PacketFields* const>(fields).first(count),
      std::span(bytes).first(count), std::span(answers).first(count));
  count = 0;
  Lanes acting = lanes;
  for (const unsigned number : lanes) {
    Lane& lane = lanes_[number];
    const auto actions = tables_->actions_of(answers[count++]);
    if (!actions) continue;
    lane.at.actions = *actions;
    if (lane.cause == kNoRule) lane.cause = kRuleDrop;
    // Most flows only name a port.
    const auto* const output =
        actions->size() == 1 ? std::get_if<Output>(actions->data()) : nullptr;
    if (output == nullptr || !lane.behind.empty()) continue;
    Perform{*this, number, lane}(*output);
    acting = acting - Lanes::of(number);
  }
  return acting;
}

void Pipeline::go_on(size_t number) {
  Lane& lane = lanes_[number];
  while (true) {
    if (!lane.at.actions.empty()) {
      const Action& action = lane.at.actions.front();
      lane.at.actions = lane.at.actions.subspan(1);
      if (!std::visit(Perform{*this, number, lane}, action)) return;
    } else if (!lane.behind.empty()) {
      lane.at = lane.behind.back();
      lane.behind.pop_back();
    } else {
      return;
    }
  }
}

void Pipeline::send_copies(Lane& lane) {
  for (const uint16_t port : lane.ports) send_copy(lane, port);
  lane.is_copied = lane.is_copied || !lane.ports.empty();
  lane.ports.clear();
}

void Pipeline::send_copy(const Lane& lane, uint16_t port) {
  const net::Packet& packet = lane.packet.packet();
  const bool is_sent = is_whole(packet) && outbox_->send(port, {packet.data, packet.total_bytes});
  ++(is_sent ? counters_.copies : counters_.copies_lost);
}

void Pipeline::finish(net::PacketBatch& batch, size_t number) {
  const Lane& lane = lanes_[number];
  net::LaneVerdict& verdict = batch.verdicts()[number];
  batch.packets()[number] = lane.packet.packet();
  if (lane.ports.size() == 1) {
    verdict = net::LaneVerdict::forward(lane.ports.front());
  } else if (!lane.ports.empty()) {
    net::PortGroup group;
    for (const uint16_t port : lane.ports) {
      if (group.ports.has(port)) send_copy(lane, port);  // twice by one port
      group.ports |= net::PortSet::of(port);
    }
    batch.replicate(number, std::span(&group, 1));
  } else if (lane.is_copied) {
    verdict = net::LaneVerdict::consume();
  } else {
    verdict = net::drop(lane.cause);
  }
}

void Pipeline::exchange(std::unique_ptr<FlowTables>& tables) {
  counted_before_ = classifier_counters();
  tables_.swap(tables);
}

classify::ClassifierCounters Pipeline::classifier_counters() const {
  classify::ClassifierCounters counters = counted_before_;
  for (size_t number = 0; number < kTablesMax; ++number) {
    const classify::Classifier* const table = tables_->table(number);
    if (table == nullptr) continue;
    add_counters<classify::ClassifierCounters>(classify::kClassifierCounters, table->counters(),
                                               counters);
  }
  return counters;
}

void Pipeline::idle(Tick now, uint64_t budget) {
  tables_->advance(now);
  tables_->maintain(budget);
  if (!tracker_) return;
  tracker_->advance(now);
  tracker_->maintain(budget);
}

}  // namespace roost::openflow

// What flow tables do with packets: lookups in one table after the other, and the actions of the
// flows that win.
//
// Lanes of a batch wait for their next lookup; all that wait at one table are looked up together.
// Then each runs actions until the next lookup or its end:
//
//   flow's actions -> goto_table, resubmit, ct at the end: wait at a table
//                  -> resubmit's flow at its end: go on behind the resubmit
//                  -> end: by the ports that were named, or dropped with the cause
//
// A ct(table=N) with actions behind it makes two packets of one: a copy goes on at table N when the
// batch is through, and what becomes of the packet itself, the actions behind it say.
//
// Limits are those of Open vSwitch (docs/decisions/0042-flow-tables.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/expiry/tick.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/openflow/flow_packet.h"
#include "roost/openflow/flow_tables.h"
#include "roost/openflow/flow_tracker.h"
#include "roost/table/slot_mask.h"

namespace roost::openflow {

struct PipelineCounters {
  uint64_t lookups = 0;
  uint64_t copies = 0;
  uint64_t copies_lost = 0;
  uint64_t copies_dropped = 0;
};
inline constexpr std::array kPipelineCounters = {
    Counter{"lookups", &PipelineCounters::lookups, "lookups of packets in a flow table"},
    Counter{"copies", &PipelineCounters::copies,
            "packets sent in a form that a later action changed"},
    Counter{"copies_lost", &PipelineCounters::copies_lost,
            "the same, of which there was no room for a copy"},
    Counter{"copies_dropped", &PipelineCounters::copies_dropped,
            "copies that went on from `ct` and were sent nowhere"},
};
static_assert(lists_all(kPipelineCounters));

// A packet's lookup in a table, and what it found.
struct Lookup {
  uint8_t table = 0;
  classify::Explanation found{};
};

// A worker's.
class Pipeline {
 public:
  static constexpr uint32_t kLookupsMax = 4'096;  // of a packet
  static constexpr size_t kResubmitDepthMax = 64;
  static constexpr size_t kBranchesMax = 256;  // of a batch

  // Without a tracker, no flow may have the action `ct`.
  explicit Pipeline(std::unique_ptr<FlowTables> tables, std::optional<FlowTracker> tracker = {})
      : tables_(std::move(tables)), tracker_(std::move(tracker)) {}

  // Reads a batch.
  void read(net::PacketBatch& batch);
  // Of a batch that was read: a lane's packet, and that it is decided elsewhere.
  [[nodiscard]] const FlowPacket& packet(size_t lane) const { return lanes_[lane].packet; }
  void leave(size_t lane) { left_ |= Lanes::of(static_cast<unsigned>(lane)); }
  // Decides every lane of it, but for those that were left. Copies go to the outbox.
  void decide(net::PacketBatch& batch, net::Outbox& outbox, Tick now);
  void idle(Tick now, uint64_t budget);

  [[nodiscard]] FlowTables& tables() { return *tables_; }
  [[nodiscard]] const FlowTables& tables() const { return *tables_; }
  // Other flows from the next batch on; those of before are the caller's.
  void exchange(std::unique_ptr<FlowTables>& tables);

  // For people who look at a packet: from now on every lookup is kept, with why it was answered so;
  // until they are taken.
  void keep_lookups() { kept_lookups_.emplace(); }
  [[nodiscard]] bool keeps_lookups() const { return kept_lookups_.has_value(); }
  [[nodiscard]] std::vector<Lookup> take_lookups() {
    std::optional<std::vector<Lookup>> lookups;
    lookups.swap(kept_lookups_);
    return std::move(lookups).value_or(std::vector<Lookup>());
  }

  [[nodiscard]] std::optional<FlowTracker>& tracker() { return tracker_; }
  [[nodiscard]] const PipelineCounters& counters() const { return counters_; }
  // What all its classifiers have counted, those of tables of before included.
  [[nodiscard]] classify::ClassifierCounters classifier_counters() const;

 private:
  // Where a list of actions goes on.
  struct Place {
    std::span<const Action> actions{};  // those that are left
    uint8_t table = 0;                  // whose flow has them
  };
  // A packet on its way.
  struct Lane {
    FlowPacket packet{};
    Place at{};
    std::vector<Place> behind{};  // resubmits, the latest last
    std::vector<uint16_t> ports{};
    uint32_t lookups = 0;
    std::optional<uint16_t> as_if_from{};  // OpenFlow's port of the next lookup, if another one
    net::DropCause cause{};                // if it is not sent
    bool is_copied = false;                // it was sent in a form of before

    void begin();
  };
  // A copy that goes on at a table.
  struct Branch {
    std::vector<uint8_t> bytes{};
    FlowPacket packet{};
    uint8_t table = 0;
    uint32_t lookups = 0;
  };
  // What is looked up together. Kept, because clearing it for each lookup takes long.
  struct Asked {
    std::array<const classify::PacketFields*, net::kBatchLanesMax> fields{};
    std::array<classify::PacketFields, net::kBatchLanesMax> others{};  // with another port
    std::array<uint32_t, net::kBatchLanesMax> bytes{};
    std::array<classify::Answer, net::kBatchLanesMax> answers{};
  };
  using Lanes = LaneMask;
  struct Perform;  // an action on a lane

  // A lane whose packet was read goes to the first table.
  void begin(size_t lane);
  // Has all waiting lanes go on to their ends.
  void run();
  void run_branch(Branch& branch);
  [[nodiscard]] bool branch_off(const Lane& lane, uint8_t connection_state, uint8_t table);
  // Returns the lanes that have actions to perform, of these or of flows that resubmitted.
  [[nodiscard]] Lanes look_up(size_t table, Lanes lanes);
  void go_on(size_t lane);
  void finish(net::PacketBatch& batch, size_t lane);

  // The lane's next lookup. True: it goes on at once, there being no such table.
  [[nodiscard]] bool wait_at(size_t table, size_t lane);
  void send_copies(Lane& lane);
  void send_copy(const Lane& lane, uint16_t port);

  std::unique_ptr<FlowTables> tables_;
  std::optional<FlowTracker> tracker_;
  std::array<Lane, net::kBatchLanesMax> lanes_{};
  Asked asked_{};
  Lanes left_{};                             // of the batch that was read
  std::array<Lanes, kTablesMax> waiting_{};  // by table
  std::vector<Branch> branches_{};           // those in use first; others keep their memory
  size_t branch_count_ = 0;
  net::Outbox* outbox_ = nullptr;  // of the batch at hand
  PipelineCounters counters_{};
  classify::ClassifierCounters counted_before_{};
  std::optional<std::vector<Lookup>> kept_lookups_{};
};

}  // namespace roost::openflow

// One worker's datapath of those that cell_job.h compares.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lab/lb/backlog.h"
#include "lab/lb/balancer.h"
#include "lab/lb/flows.h"
#include "lab/lb/frame_batch.h"
#include "lab/lb/raw_parsing.h"
#include "lab/packets/batch_times.h"
#include "roost/expiry/tick.h"
#include "roost/memory/arena.h"
#include "roost/traffic/connection_stream.h"

namespace roost::lab {

// What cells have done with the same packets: all must agree on it.
struct CellCounts {
  uint64_t packets = 0;
  uint64_t forwarded = 0;
  uint64_t created = 0;
  uint64_t live = 0;

  friend bool operator==(const CellCounts&, const CellCounts&) = default;
  CellCounts& operator+=(const CellCounts& other) {
    packets += other.packets;
    forwarded += other.forwarded;
    created += other.created;
    live += other.live;
    return *this;
  }
};

// How a cell's packets follow from the stream.
struct CellTraffic {
  bool both_ends = false;  // every other packet is the backend's
  uint64_t worker = 0;     // whose flows they are, of so many workers
  uint64_t worker_count = 1;
  uint64_t nanoseconds_per_tick = 100'000'000;
  bool has_upkeep = true;  // a turn of maintenance after each batch, or a smaller one every period
  uint64_t upkeep_nanoseconds = 0;

  [[nodiscard]] uint64_t flow_of(const traffic::StreamPacket& packet) const {
    return packet.flow * worker_count + worker;
  }
};

struct CellTimes {
  BatchTimes batches;
  Backlog backlog;
};

class Cell {
 public:
  // Packets that are prepared at a time: their frames stay in the second cache level or the third,
  // where a network card would put them.
  static constexpr size_t kPreparedMax = 8'192;

  Cell() = default;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  virtual ~Cell() = default;

  // Makes the frames of at most kPreparedMax packets.
  virtual void prepare(std::span<const traffic::StreamPacket> packets) = 0;
  // Sends them through, in batches whose times are added; how long it took.
  virtual BatchTimes::Clock::duration run(CellTimes& times) = 0;
  // What became of the packet that was prepared at this place.
  [[nodiscard]] virtual bool is_forwarded(size_t packet) = 0;
  // Decides a batch that somebody else has received.
  virtual void process(net::PacketBatch& batch, Tick now) = 0;
  // A turn of maintenance.
  virtual void idle(Tick now) = 0;
  [[nodiscard]] virtual net::Outbox& outbox() = 0;
  // Walks the whole table.
  [[nodiscard]] virtual CellCounts counts() = 0;
  // How connections began and ended.
  [[nodiscard]] virtual lb::FlowCounts flow_counts() = 0;
  // Of its table, with those of the other workers if it is theirs, too.
  [[nodiscard]] virtual uint64_t entry_count() = 0;
  // Records that were looked at for having expired; nothing if that is not counted.
  [[nodiscard]] virtual std::optional<uint64_t> looks() const = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() const = 0;
  [[nodiscard]] virtual PageKind page_kind() const = 0;
  // Whether indices, records and tables lead to each other.
  [[nodiscard]] virtual bool audit() = 0;
};

// `Holder` has the function, and what is asked of a cell.
template <class Holder>
class CellOf final : public Cell {
 public:
  CellOf(std::unique_ptr<Holder> holder, const CellTraffic& traffic)
      : holder_(std::move(holder)), traffic_(traffic) {
    for (Prepared& one : prepared_) one.frames = std::make_unique<FrameBatch>();
  }

  void prepare(std::span<const traffic::StreamPacket> packets) override {
    prepared_count_ = 0;
    while (!packets.empty()) {
      const auto batch = packets.first(std::min(packets.size(), net::kBatchLanesMax));
      packets = packets.subspan(batch.size());
      Prepared& prepared = prepared_[prepared_count_++];
      prepared.frames->clear();
      prepared.nanoseconds = batch.back().nanoseconds;
      prepared.now.count = prepared.nanoseconds / traffic_.nanoseconds_per_tick;
      for (const traffic::StreamPacket& packet : batch) prepared.frames->push(frame_of(packet));
    }
  }

  BatchTimes::Clock::duration run(CellTimes& times) override {
    const auto first = BatchTimes::Clock::now();
    auto began = first;
    for (Prepared& prepared : std::span(prepared_).first(prepared_count_)) {
      holder_->function().process(prepared.frames->batch(), prepared.now);
      keep_up(prepared);
      const auto ended = BatchTimes::Clock::now();
      times.batches.add(ended - began);
      times.backlog.add(ended - began, prepared.frames->lane_count());
      began = ended;
    }
    for (Prepared& prepared : std::span(prepared_).first(prepared_count_)) {
      counts_.packets += prepared.frames->lane_count();
      for (const net::LaneVerdict& verdict :
           prepared.frames->batch().verdicts().first(prepared.frames->lane_count()))
        counts_.forwarded += verdict.is_forward() ? uint64_t{1} : 0;
    }
    return began - first;
  }

  bool is_forwarded(size_t packet) override {
    net::PacketBatch& batch = prepared_[packet / net::kBatchLanesMax].frames->batch();
    return batch.verdicts()[packet % net::kBatchLanesMax].is_forward();
  }
  void process(net::PacketBatch& batch, Tick now) override {
    holder_->function().process(batch, now);
  }
  void idle(Tick now) override {
    holder_->function().idle(now, traffic_.has_upkeep ? kIdleBudget : 0);
  }
  [[nodiscard]] net::Outbox& outbox() override { return holder_->function().outbox(); }

  CellCounts counts() override {
    holder_->count(counts_);
    return counts_;
  }
  lb::FlowCounts flow_counts() override { return holder_->flow_counts(); }
  uint64_t entry_count() override { return holder_->entry_count(); }
  [[nodiscard]] std::optional<uint64_t> looks() const override { return holder_->looks(); }
  [[nodiscard]] uint64_t memory_bytes() const override { return holder_->memory_bytes(); }
  [[nodiscard]] PageKind page_kind() const override { return holder_->page_kind(); }
  bool audit() override { return holder_->audit(); }

 private:
  static constexpr uint64_t kIdleBudget = 64;  // a worker loop's

  struct Prepared {
    std::unique_ptr<FrameBatch> frames;
    uint64_t nanoseconds = 0;
    Tick now{};
  };

  void keep_up(const Prepared& prepared) {
    if (!traffic_.has_upkeep) return;
    if (traffic_.upkeep_nanoseconds == 0) {
      holder_->function().idle(prepared.now, kIdleBudget);
      return;
    }
    for (; upkeep_due_ <= prepared.nanoseconds; upkeep_due_ += traffic_.upkeep_nanoseconds)
      holder_->function().idle(prepared.now, 1);
  }

  [[nodiscard]] Frame frame_of(const traffic::StreamPacket& packet) {
    using net::tcp::kAck;
    using net::tcp::kFin;
    using net::tcp::kSyn;
    const uint64_t flow = traffic_.flow_of(packet);
    const bool is_answer = traffic_.both_ends && packet.number % 2 == 1;
    uint8_t flags = kAck;
    if (packet.is_last) flags = kFin | kAck;
    if (packet.number == 0) flags = kSyn;
    if (!is_answer) return request_of(flow, flags);
    if (packet.number == 1 && !packet.is_last) flags = kSyn | kAck;
    return answer_of(flow, holder_->backend_of(flow), flags);
  }

  std::unique_ptr<Holder> holder_;
  CellTraffic traffic_;
  std::array<Prepared, kPreparedMax / net::kBatchLanesMax> prepared_;
  size_t prepared_count_ = 0;
  uint64_t upkeep_due_ = 0;
  CellCounts counts_;
};

// Parses, and knows no connections.
class RawCell {
 public:
  [[nodiscard]] RawIoAndParse& function() { return function_; }
  [[nodiscard]] static uint32_t backend_of(uint64_t flow) {
    return static_cast<uint32_t>(flow % kBackendCount);
  }
  static void count(CellCounts& /*counts*/) {}
  [[nodiscard]] static lb::FlowCounts flow_counts() { return {}; }
  [[nodiscard]] static uint64_t entry_count() { return 0; }
  [[nodiscard]] static std::optional<uint64_t> looks() { return {}; }
  [[nodiscard]] static uint64_t memory_bytes() { return 0; }
  [[nodiscard]] static PageKind page_kind() { return PageKind::kSmall; }
  [[nodiscard]] static bool audit() { return true; }

 private:
  RawIoAndParse function_;
};

// What says how many entries are in a table.
using CountEntries = std::function<uint64_t()>;

template <class Tables>
class BalancerCell {
 public:
  // `common_entries`: of the table, if several workers have it.
  BalancerCell(std::unique_ptr<Balancer<Tables>> balancer, Tables tables,
               CountEntries common_entries)
      : balancer_(std::move(balancer)),
        tables_(std::move(tables)),
        common_entries_(std::move(common_entries)) {}

  [[nodiscard]] auto& function() { return balancer_->datapath(); }
  [[nodiscard]] uint32_t backend_of(uint64_t flow) {
    return balancer_->state().ipv4().services().pick_backend(0, key_of(flow)).value();
  }
  void count(CellCounts& counts) {
    counts.created = balancer_->state().tracker().counts().created;
    counts.live = balancer_->state().tracker().count_live();
  }
  [[nodiscard]] lb::FlowCounts flow_counts() { return balancer_->state().tracker().counts(); }
  [[nodiscard]] uint64_t entry_count() {
    return common_entries_ ? common_entries_() : balancer_->state().ipv4().connections().size();
  }
  [[nodiscard]] std::optional<uint64_t> looks() const {
    if constexpr (requires { tables_.looks; }) return *tables_.looks;
    return {};
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return balancer_->state().ipv4().connections().memory_bytes();
  }
  [[nodiscard]] PageKind page_kind() const {
    return balancer_->state().ipv4().connections().page_kind();
  }
  [[nodiscard]] bool audit() {
    balancer_->state().tracker().settle();
    return balancer_->state().audit();
  }

 private:
  std::unique_ptr<Balancer<Tables>> balancer_;
  Tables tables_;
  CountEntries common_entries_;
};

}  // namespace roost::lab

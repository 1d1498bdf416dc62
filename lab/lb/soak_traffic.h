// The traffic of a soak: which flows there are, what each sends next, and what must become of it.
//
// A flow lives for kActiveTicks after its handshake and is used about every 130 of them, in a flood
// every 190; then every other one closes, and the rest fall silent. A tick is as many batches as
// make a flow's life the same share of the table's places, whatever their number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/lb/datapath/datapath.h"
#include "apps/lb/datapath/state.h"
#include "lab/lb/flows.h"
#include "lab/lb/frame_batch.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {

// What the traffic has done so far.
struct SoakCounts {
  uint64_t packets = 0;
  uint64_t begun = 0;          // flows whose handshake was forwarded
  uint64_t refused = 0;        // flows that the balancer had no place for
  uint64_t closed = 0;         // by both ends
  uint64_t flood = 0;          // packets of senders that send no more
  uint64_t flood_created = 0;  // flows that they created
  uint64_t lost = 0;           // packets of assured flows that were not forwarded: must be 0
};

class SoakTraffic {
 public:
  static constexpr uint64_t kEstablishedTicks = 300;  // and before a flow is established
  static constexpr uint64_t kOtherTicks = 100;        // once it closes
  static constexpr uint64_t kActiveTicks = 1'000;
  // How long a flow is held, give or take: its life, half of both timeouts, and until a sweep or an
  // insert finds it.
  static constexpr uint64_t kHeldTicks = kActiveTicks + (kEstablishedTicks + kOtherTicks) / 2 + 80;
  static constexpr double kLoad = 0.9;

  SoakTraffic(lb::State& state, lb::Datapath& datapath, uint64_t connections);
  SoakTraffic(const SoakTraffic&) = delete;
  SoakTraffic& operator=(const SoakTraffic&) = delete;

  // Puts the next batch together; `with_flood`: some of its lanes are a flood's.
  void prepare(bool with_flood);
  // What is timed: the batch through the datapath, as a worker's turn.
  void process() {
    datapath_.process(frames_.batch(), now());
    datapath_.idle(now(), kIdleBudget);
  }
  // Compares what became of the batch with what must.
  void judge();

  // No packets any more, until everything has ended.
  void fall_silent();

  [[nodiscard]] Tick now() const { return {batch_number_ / batches_per_tick_}; }
  [[nodiscard]] const SoakCounts& counts() const { return counts_; }

 private:
  enum class Kind : uint8_t { kSyn, kAnswerToSyn, kAssurance, kClose, kUse, kFlood };

  static constexpr uint64_t kIdleBudget = 64;  // a worker loop's
  static constexpr uint8_t kNoBackend = 0xff;

  [[nodiscard]] size_t lanes_left() const { return net::kBatchLanesMax - frames_.lane_count(); }
  [[nodiscard]] uint8_t& backend_of(uint64_t flow) { return backends_[flow % backends_.size()]; }
  void push(Kind kind, const Frame& frame);
  void begin_flow();
  void close_or_forget_flow();
  void use_next_flow();

  lb::State& state_;
  lb::Datapath& datapath_;
  uint64_t batches_per_tick_;
  double flows_per_batch_;
  uint64_t active_max_;            // flows between handshake and end
  std::vector<uint8_t> backends_;  // by flow; kNoBackend: the balancer refused it
  uint64_t batch_number_ = 0;
  double flows_due_ = 0;
  uint64_t next_flow_ = 0;
  uint64_t oldest_flow_ = 0;  // that is active
  uint64_t used_flow_ = 0;    // the last one whose turn it was
  uint64_t next_flood_ = 0;
  bool answers_ = false;  // whose turn it is: the backend's or the client's

  FrameBatch frames_;
  std::array<Kind, net::kBatchLanesMax> kinds_{};
  std::array<uint64_t, net::kBatchLanesMax> flows_{};
  SoakCounts counts_;
};

}  // namespace roost::lab

// What the datapath sees of received frames: a borrowed view of each, and what became of it.
//
// The bytes belong to the port that received them. The datapath decides a batch: for each lane it
// either rewrites the frame in place and names the port it leaves by, or several ports with the
// VLAN tags of each, or names the cause why it is dropped, or consumes it: it was for the function
// itself, or its bytes are kept (outbox.h). Or it names the worker whose flow it is of.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/base/assert.h"
#include "roost/net/drop_cause.h"
#include "roost/net/port_group.h"

namespace roost::net {

inline constexpr size_t kBatchLanesMax = 32;

// How a frame came to the worker that decides it.
enum class PacketOrigin : uint8_t {
  kPort,    // received by itself
  kWorker,  // received by another worker and handed off to this one, its flow's owner
  kCopy     // a copy of what another worker received, to learn from; its verdict counts for nothing
};

// Some lanes of a batch, in their order.
class LaneList {
 public:
  void clear() { count_ = 0; }
  void push(size_t lane) {
    ROOST_DEBUG_ASSERT(count_ < kBatchLanesMax);
    lanes_[count_++] = static_cast<uint8_t>(lane);
  }
  [[nodiscard]] std::span<const uint8_t> span() const { return std::span(lanes_).first(count_); }
  // Takes out the lanes of which stays(lane) is false.
  template <class Stays>
  void keep_if(Stays&& stays) {
    size_t kept = 0;
    for (size_t i = 0; i < count_; ++i) {
      if (stays(size_t{lanes_[i]})) lanes_[kept++] = lanes_[i];
    }
    count_ = kept;
  }

 private:
  size_t count_ = 0;
  std::array<uint8_t, kBatchLanesMax> lanes_;
};

// One frame. Code that moves `data` (a VLAN tag popped or pushed) adjusts the three lengths with
// it, so that the port can apply the difference to its own buffer.
struct Packet {
  uint8_t* data = nullptr;        // first byte of the Ethernet header
  uint32_t contiguous_bytes = 0;  // readable and writable at data: the first segment
  uint32_t total_bytes = 0;       // the whole frame, all segments; at least contiguous_bytes
  uint32_t headroom = 0;          // writable before data
  uint16_t in_port = 0;           // the port that received it
  PacketOrigin origin = PacketOrigin::kPort;
};

// What the datapath decided for one lane. Default: dropped as undecided.
class LaneVerdict {
 public:
  constexpr LaneVerdict() = default;

  [[nodiscard]] static constexpr LaneVerdict forward(uint16_t out_port) {
    return LaneVerdict(Kind::kForward, out_port);
  }
  [[nodiscard]] static constexpr LaneVerdict drop(DropCause cause) {
    return LaneVerdict(Kind::kDrop, static_cast<uint8_t>(cause));
  }
  // The function took what it needed of the packet, which is neither sent nor dropped.
  [[nodiscard]] static constexpr LaneVerdict consume() { return LaneVerdict(Kind::kConsume, 0); }

  // By several ports: PacketBatch::replicate().
  [[nodiscard]] static constexpr LaneVerdict replicate(uint16_t replication) {
    return LaneVerdict(Kind::kReplicate, replication);
  }

  // The packet is another worker's: unchanged so far, or with this worker's part done. A function
  // sees to it that none goes round.
  [[nodiscard]] static constexpr LaneVerdict handoff(size_t worker) {
    return LaneVerdict(Kind::kHandoff, static_cast<uint16_t>(worker));
  }

  // The same, and every other worker gets a copy of the frame, which must be as it came: what all
  // workers learn from, a neighbour's message above all. A copy's own verdict is not looked at.
  [[nodiscard]] constexpr LaneVerdict with_copies() const {
    LaneVerdict verdict = *this;
    verdict.is_copied_ = true;
    return verdict;
  }

  [[nodiscard]] constexpr bool is_forward() const { return kind_ == Kind::kForward; }
  [[nodiscard]] constexpr bool is_replicated() const { return kind_ == Kind::kReplicate; }
  [[nodiscard]] constexpr bool is_drop() const { return kind_ == Kind::kDrop; }
  [[nodiscard]] constexpr bool is_consumed() const { return kind_ == Kind::kConsume; }
  [[nodiscard]] constexpr bool is_handoff() const { return kind_ == Kind::kHandoff; }
  [[nodiscard]] constexpr bool is_copied() const { return is_copied_; }
  [[nodiscard]] constexpr uint16_t out_port() const {
    ROOST_DEBUG_ASSERT(is_forward());
    return target_;
  }
  [[nodiscard]] constexpr uint16_t replication() const {
    ROOST_DEBUG_ASSERT(is_replicated());
    return target_;
  }
  [[nodiscard]] constexpr DropCause drop_cause() const {
    ROOST_DEBUG_ASSERT(is_drop());
    return static_cast<DropCause>(target_);
  }
  [[nodiscard]] constexpr size_t owner() const {
    ROOST_DEBUG_ASSERT(is_handoff());
    return target_;
  }

 private:
  enum class Kind : uint8_t { kDrop, kForward, kReplicate, kConsume, kHandoff };

  constexpr LaneVerdict(Kind kind, uint16_t target) : target_(target), kind_(kind) {}

  uint16_t target_ = 0;  // a port, a replication of the batch, a cause or a worker
  Kind kind_ = Kind::kDrop;
  bool is_copied_ = false;
};

[[nodiscard]] constexpr LaneVerdict drop(DropCause cause) { return LaneVerdict::drop(cause); }

// Up to kBatchLanesMax frames in order of arrival, and their verdicts.
class PacketBatch {
 public:
  [[nodiscard]] size_t lane_count() const { return lane_count_; }
  [[nodiscard]] bool is_empty() const { return lane_count_ == 0; }
  [[nodiscard]] bool is_full() const { return lane_count_ == kBatchLanesMax; }

  // Appends a frame as the next lane, undecided. The batch must not be full.
  void push(const Packet& packet) {
    ROOST_DEBUG_ASSERT(!is_full());
    packets_[lane_count_] = packet;
    verdicts_[lane_count_] = LaneVerdict();
    ++lane_count_;
  }
  void clear() {
    lane_count_ = 0;
    replications_.clear();
  }

  // Decides that the lane leaves by all ports of the groups, 1 to kPortGroupsMax of them; a port is
  // in one group at most, and none is empty. A packet that leaves by n ports is replicated n - 1
  // times. The frame has the tags that are popped, and headroom for what the first group pushes.
  // Ports of a group share a buffer, and each group beyond the first costs a copy, so groups with
  // the same tags should be one. Allocates only what batches before did not need.
  void replicate(size_t lane, std::span<const PortGroup> groups) {
    ROOST_ASSERT(!groups.empty() && groups.size() <= kPortGroupsMax);
    Replication replication{.count = groups.size()};
    std::ranges::copy(groups, replication.groups.begin());
    verdicts_[lane] = LaneVerdict::replicate(static_cast<uint16_t>(replications_.size()));
    replications_.push_back(replication);
  }

  // Of a lane that is replicated.
  [[nodiscard]] std::span<const PortGroup> port_groups(size_t lane) const {
    const Replication& replication = replications_[verdicts_[lane].replication()];
    return std::span(replication.groups).first(replication.count);
  }
  [[nodiscard]] size_t replication_count() const { return replications_.size(); }

  [[nodiscard]] std::span<Packet> packets() { return {packets_.data(), lane_count_}; }
  [[nodiscard]] std::span<const Packet> packets() const { return {packets_.data(), lane_count_}; }
  [[nodiscard]] std::span<LaneVerdict> verdicts() { return {verdicts_.data(), lane_count_}; }
  [[nodiscard]] std::span<const LaneVerdict> verdicts() const {
    return {verdicts_.data(), lane_count_};
  }

 private:
  struct Replication {
    size_t count = 0;
    std::array<PortGroup, kPortGroupsMax> groups{};
  };

  size_t lane_count_ = 0;
  std::array<Packet, kBatchLanesMax> packets_{};
  std::array<LaneVerdict, kBatchLanesMax> verdicts_{};
  std::vector<Replication> replications_;
};

}  // namespace roost::net

// What the datapath sees of received frames: a borrowed view of each, and what became of it.
//
// The bytes belong to the port that received them. The datapath decides a batch: for each lane it
// either rewrites the frame in place and names the port it leaves by, or names the cause why it is
// dropped, or consumes it: it was for the function itself, or its bytes are kept (outbox.h). Or it
// names the worker whose flow it is of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/assert.h"
#include "roost/net/drop_cause.h"

namespace roost::net {

inline constexpr size_t kBatchLanesMax = 32;

// How a frame came to the worker that decides it.
enum class PacketOrigin : uint8_t {
  kPort,    // received by itself
  kWorker,  // received by another worker and handed off to this one, its flow's owner
  kCopy     // a copy of what another worker received, to learn from; its verdict counts for nothing
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

  // The packet is another worker's, unchanged so far. Only for what a port received: a packet is
  // handed off at most once.
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
  [[nodiscard]] constexpr bool is_drop() const { return kind_ == Kind::kDrop; }
  [[nodiscard]] constexpr bool is_consumed() const { return kind_ == Kind::kConsume; }
  [[nodiscard]] constexpr bool is_handoff() const { return kind_ == Kind::kHandoff; }
  [[nodiscard]] constexpr bool is_copied() const { return is_copied_; }
  [[nodiscard]] constexpr uint16_t out_port() const {
    ROOST_DEBUG_ASSERT(is_forward());
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
  enum class Kind : uint8_t { kDrop, kForward, kConsume, kHandoff };

  constexpr LaneVerdict(Kind kind, uint16_t target) : target_(target), kind_(kind) {}

  uint16_t target_ = 0;  // a port, a cause or a worker
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
  void clear() { lane_count_ = 0; }

  [[nodiscard]] std::span<Packet> packets() { return {packets_.data(), lane_count_}; }
  [[nodiscard]] std::span<const Packet> packets() const { return {packets_.data(), lane_count_}; }
  [[nodiscard]] std::span<LaneVerdict> verdicts() { return {verdicts_.data(), lane_count_}; }
  [[nodiscard]] std::span<const LaneVerdict> verdicts() const {
    return {verdicts_.data(), lane_count_};
  }

 private:
  size_t lane_count_ = 0;
  std::array<Packet, kBatchLanesMax> packets_{};
  std::array<LaneVerdict, kBatchLanesMax> verdicts_{};
};

}  // namespace roost::net

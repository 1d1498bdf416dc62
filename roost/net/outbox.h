// Frames that a network function originates: answers to ARP, echo replies, ICMP errors, packets
// that waited for their neighbour. The worker loop sends them, in their order, after each batch and
// each idle turn.
//
// One run of bytes with the frames back to back, and one list of where each begins: both made once,
// so that writing a frame allocates nothing. What finds no room is refused and counted; a function
// that answers unknown hosts needs that bound anyway.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/base/assert.h"

namespace roost::net {

struct OutboxCounters {
  uint64_t accepted = 0;
  uint64_t refused = 0;  // found no room; they were never frames
};

// One worker's.
class Outbox {
 public:
  struct Config {
    uint32_t frame_count_max = 256;  // between two drains
    uint32_t bytes_max = 128 * 1024;
  };

  struct Frame {
    uint16_t out_port = 0;
    std::span<const uint8_t> bytes;  // valid until clear()
  };

  Outbox() : Outbox(Config{}) {}
  explicit Outbox(const Config& config)
      : bytes_(config.bytes_max), frame_count_max_(config.frame_count_max) {
    entries_.reserve(frame_count_max_);
  }

  // Room for a frame of `frame_bytes` bytes (1 or more) to be written in place, at once and whole;
  // it holds old bytes. Empty when there is none.
  [[nodiscard]] std::span<uint8_t> reserve(uint16_t out_port, size_t frame_bytes) {
    ROOST_DEBUG_ASSERT(frame_bytes > 0);
    if (entries_.size() == frame_count_max_ || frame_bytes > bytes_.size() - bytes_used_) {
      ++counters_.refused;
      return {};
    }
    const std::span<uint8_t> room = std::span(bytes_).subspan(bytes_used_, frame_bytes);
    entries_.push_back({.begin = bytes_used_, .bytes = frame_bytes, .out_port = out_port});
    bytes_used_ += frame_bytes;
    ++counters_.accepted;
    return room;
  }

  // Keeps a copy of the frame. False, and nothing kept, when there is no room.
  [[nodiscard]] bool send(uint16_t out_port, std::span<const uint8_t> frame) {
    const std::span<uint8_t> room = reserve(out_port, frame.size());
    if (room.empty()) return false;
    std::ranges::copy(frame, room.begin());
    return true;
  }

  [[nodiscard]] bool is_empty() const { return entries_.empty(); }
  [[nodiscard]] size_t frame_count() const { return entries_.size(); }
  [[nodiscard]] Frame frame(size_t index) const {
    const Entry& entry = entries_[index];
    return {entry.out_port, std::span(bytes_).subspan(entry.begin, entry.bytes)};
  }

  void clear() {
    entries_.clear();
    bytes_used_ = 0;
  }

  [[nodiscard]] const OutboxCounters& counters() const { return counters_; }

 private:
  struct Entry {
    size_t begin = 0;
    size_t bytes = 0;
    uint16_t out_port = 0;
  };

  std::vector<uint8_t> bytes_;
  std::vector<Entry> entries_;
  size_t frame_count_max_;
  size_t bytes_used_ = 0;
  OutboxCounters counters_;
};

}  // namespace roost::net

// When each packet of a run is due. It never waits for anything (open loop): what is not sent in
// time is late, and its latency counts from when it was due.
//
// The stream says which packet of which connection follows which. In a step without a rate it says
// when, too. In a step with one, packets are due at equal distances, in the stream's order. In a
// step of bursts they are due earlier than that: all of a burst's time at its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/trafficgen/config/config.h"
#include "roost/base/result.h"
#include "roost/traffic/connection_stream.h"

namespace roost::trafficgen {

struct DuePacket {
  uint64_t nanoseconds = 0;  // since the run's beginning
  uint32_t step = 0;
  traffic::StreamPacket packet{};
};

class Schedule {
 public:
  // At least one step. Errors: those of the stream.
  static Result<Schedule> create(const traffic::ConnectionStream::Config& stream,
                                 std::span<const StepConfig> steps);

  // The next packet if it is due by `now`; pop() goes on to the one behind it.
  [[nodiscard]] const DuePacket* peek(uint64_t now) {
    if (!has_next_ && !prepare()) return nullptr;
    return next_.nanoseconds <= now ? &next_ : nullptr;
  }
  void pop() { has_next_ = false; }
  // A packet that will be due soon; nullptr if none is known.
  [[nodiscard]] const traffic::StreamPacket* peek_ahead() const {
    return taken_ + kAhead < made_ ? &at(taken_ + kAhead) : nullptr;
  }
  // Makes packets of the stream ahead, a small piece of the work: for whoever has a moment, so that
  // none has to be waited for when it is due.
  void make_ahead() {
    if (made_ - taken_ < kReady) make_ahead(kConnectionsAPiece);
  }
  // No packet follows: steps or stream are at their end.
  [[nodiscard]] bool is_over() { return !has_next_ && !prepare(); }
  // The stream had no packet left in this step.
  [[nodiscard]] bool ended_early() const { return ended_early_; }
  [[nodiscard]] uint64_t flow_count() const { return stream_.flow_count(); }

  // For steps that are not known ahead.
  void clear_steps() { steps_.clear(); }
  // Another step behind the last one, from `begin` on, in nanoseconds.
  void add_step(const StepConfig& step, uint64_t begin);

 private:
  static constexpr size_t kAhead = 8;
  // Packets that are made ahead: those of 20 ms at 6 million a second, which is longer than the
  // stream ever needs for one.
  static constexpr size_t kReady = size_t{1} << 17;
  static constexpr uint64_t kConnectionsAPiece = 512;

  struct Step {
    uint64_t begin = 0;  // nanoseconds
    uint64_t end = 0;
    double distance = 0;  // nanoseconds between packets; 0: as the stream says
    double next = 0;      // of these
    uint64_t burst = 0;   // nanoseconds whose packets come together; 0: none do
  };

  explicit Schedule(traffic::ConnectionStream stream)
      : stream_(std::move(stream)), packets_(kReady) {}
  void make_ahead(uint64_t connections);
  // Finds the next packet; false if there is none.
  [[nodiscard]] bool prepare();
  [[nodiscard]] const traffic::StreamPacket* stream_packet();
  [[nodiscard]] const traffic::StreamPacket& at(uint64_t number) const {
    return packets_[number % kReady];
  }
  // When the packet is due in a step; nothing if the step ends before.
  [[nodiscard]] std::optional<uint64_t> due_in(Step& step, const traffic::StreamPacket& packet);

  traffic::ConnectionStream stream_;
  std::vector<traffic::StreamPacket> packets_;  // a ring
  uint64_t made_ = 0;                           // of the stream's packets
  uint64_t taken_ = 0;
  std::vector<Step> steps_;
  uint32_t step_ = 0;
  std::optional<uint64_t> stream_begin_{};  // the stream's time at the step's beginning
  DuePacket next_{};
  bool has_next_ = false;
  bool ended_early_ = false;
};

}  // namespace roost::trafficgen

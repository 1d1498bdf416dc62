// The loop every network function shares: packets in, the function decides, packets out, all
// counted.
//
//   for each batch:  receive -> function.process(batch, now) -> transmit by verdict, count the rest
//   after it, and also without traffic:  function.idle(now, budget)
//   after each of the two: send what is in function.outbox()
//   once a turn: a step of a control thread's request (mailbox.h)
//   after a while of turns without any of it, if the operator wants that: a pause
//
// A function of two phases starts a batch before the one before it is finished, so that the lines
// it has asked for arrive meanwhile (docs/decisions/0024-two-phases.md):
//
//   receive n + 1 -> start n + 1 -> finish n, transmit n -> receive n + 2 -> ...
//
// A poll without packets, a request and the end of a run finish what has been started first: no
// packet waits for another one to come.
//
// One worker, run to completion. The function is a template parameter: no virtual call a packet.
// Of several workers each has a function object and a queue of every port of its own. A packet that
// the function says is another worker's is handed off to it, and decided there (handoff.h).
//
// What comes in is either what the live ports receive, polled in turn with time from the clock, or
// captures merged by packet timestamp with time from the packets; the function cannot tell them
// apart.
//
// Conservation, over all ports and at every return of a run function:
//   received + originated + replicated =
//       sent + refused + no_buffer + drops by cause + consumed
// Of several workers: over all of them, when all have returned, with what the rings between them
// refused on the right side. A copy is no packet, and in no sum.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/base/assert.h"
#include "roost/expiry/tick.h"
#include "roost/io/capture_merge.h"
#include "roost/io/clock.h"
#include "roost/io/handoff.h"
#include "roost/io/idle_pause.h"
#include "roost/io/packet_burst.h"
#include "roost/io/port.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/node/mailbox.h"
#include "roost/node/stage_cycles.h"
#include "roost/node/work_counters.h"

namespace roost::node {

// What the worker loop requires of a network function.
template <class Function>
concept NetworkFunction =
    requires(Function& function, net::PacketBatch& batch, Tick now, uint64_t budget) {
      // Decides every lane of a batch that is not empty: forwards it by a port that exists, or
      // replicates it to several, names a drop cause, consumes it, or names its owner, if a port
      // received it and there are several workers. It may change frames in place. `now` never runs
      // backwards, over both functions.
      { function.process(batch, now) } -> std::same_as<void>;
      // Work beside packets, table maintenance above all; called after every batch and every poll
      // without packets. `budget` bounds the work, in units of the function's own (buckets, for a
      // table).
      { function.idle(now, budget) } -> std::same_as<void>;
      // What the function wants to send itself, by ports that exist. The worker loop empties it.
      { function.outbox() } -> std::same_as<net::Outbox&>;
    };

// One whose work on a batch is cut in two. `Started` is what it keeps of a batch in between, where
// it stays; it is used again for later batches.
template <class Function>
concept HasTwoPhases =
    NetworkFunction<Function> && requires(Function& function, net::PacketBatch& batch,
                                          typename Function::Started& started, Tick now) {
      // Reads the batch, and asks for what will be needed. Whatever finish() and idle() of earlier
      // batches change is changed before finish() of this one, but not before this.
      { function.start(batch, started) } -> std::same_as<void>;
      // Decides it. The two are what process() is in one.
      { function.finish(batch, started, now) } -> std::same_as<void>;
    };

struct WorkerConfig {
  size_t worker = 0;                     // its queues of the ports are used
  io::HandoffQueues* handoff = nullptr;  // of this worker; none if it is the only one
  Mailbox* mailbox = nullptr;            // of this worker, if requests are posted to it
  uint64_t idle_budget = 64;             // handed to the function's idle()
  uint32_t pause_microseconds = 0;       // the longest, when nothing comes; 0: it polls
};

struct WorkerCounters : FrameCounters, TurnCounters {
  uint64_t packets = 0;  // decided here, not by another worker
  StageCycles cycles{};
  net::DropCounts drops{};
};

// One worker owns its ports' queues and calls everything here from one thread.
template <NetworkFunction Function>
class Worker {
 public:
  // Function and ports stay the caller's. Port i of `ports` has the number i.
  Worker(Function& function, std::span<io::Port> ports, const WorkerConfig& config)
      : function_(function), ports_(ports), config_(config) {
    for (size_t i = 0; i < ports.size(); ++i) ROOST_ASSERT(ports[i].id() == i);
  }

  // Polls the ports in turn until `stop()` is true. `on_second(counters)` is called about once a
  // second. Of several workers each must be stopped: none returns before all have received their
  // last packet, and decided what was handed off to them.
  template <std::predicate Stop, std::invocable<const WorkerCounters&> OnSecond>
  void run_live(const io::TickClock& clock, Stop&& stop, OnSecond&& on_second) {
    io::SecondsTimer seconds;
    const io::ThreadTime time;
    const TurnCounters before = counters_;
    io::IdlePause pause(config_.pause_microseconds);
    if (config_.handoff != nullptr) config_.handoff->open();
    while (!stop()) {
      bool found_work = false;
      timer_.restart();
      for (io::Port& port : ports_) {
        io::PortQueue& queue = port.queue(config_.worker);
        if (!queue.can_receive()) continue;
        const Tick now = clock.at(timer_.last());
        queue.receive(next_burst(), net::kBatchLanesMax);
        found_work |= work(now);
      }
      if (config_.handoff != nullptr) found_work |= work_on_handoffs(clock);
      found_work |= serve_mailbox();
      if (seconds.has_passed(timer_.last())) see_second(time, before, on_second);
      if (pause.after_turn(found_work)) ++counters_.pauses;
    }
    finish_started();
    if (config_.handoff != nullptr) {
      config_.handoff->close();
      timer_.restart();
      while (work_on_handoffs(clock)) continue;
    }
    count_time(time, before);
  }

  // Takes the captures' packets in the order of their timestamps until the last one or until
  // `stop()` is true; packets that the merge still holds then are not received. `on_second` as for
  // run_live. A replay is one worker's.
  template <std::predicate Stop, std::invocable<const WorkerCounters&> OnSecond>
  void run_captures(io::CaptureMerge& captures, Stop&& stop, OnSecond&& on_second) {
    ROOST_ASSERT(config_.handoff == nullptr);
    io::SecondsTimer seconds;
    const io::ThreadTime time;
    while (!stop()) {
      timer_.restart();
      const std::optional<Tick> now = captures.next(next_burst());
      if (!now) break;
      work(*now);
      serve_mailbox();
      if (seconds.has_passed(timer_.last())) see_second(time, {}, on_second);
    }
    finish_started();
    count_time(time, {});
  }

  [[nodiscard]] const WorkerCounters& counters() const { return counters_; }

 private:
  // What a function without phases keeps: nothing.
  struct NothingStarted {};
  template <class Any>
  struct StartedOf {
    using Type = NothingStarted;
  };
  template <HasTwoPhases Any>
  struct StartedOf<Any> {
    using Type = typename Any::Started;
  };
  static constexpr bool kHasTwoPhases = HasTwoPhases<Function>;

  // A batch on its way through the worker.
  struct Turn {
    io::PacketBurst burst;
    Tick now;
    typename StartedOf<Function>::Type started;
  };

  // `before`: what it had when this run began.
  void count_time(const io::ThreadTime& time, const TurnCounters& before) {
    counters_.run_microseconds = before.run_microseconds + time.run_microseconds();
    counters_.cpu_microseconds = before.cpu_microseconds + time.cpu_microseconds();
  }

  template <class OnSecond>
  void see_second(const io::ThreadTime& time, const TurnCounters& before, OnSecond&& on_second) {
    count_time(time, before);
    on_second(counters_);
  }

  // A request sees no batch that is only started. Returns whether a request waited.
  bool serve_mailbox() {
    return config_.mailbox != nullptr && config_.mailbox->serve([this] { finish_started(); });
  }

  // Decides what other workers handed off; whether there was anything to do.
  bool work_on_handoffs(const io::TickClock& clock) {
    const Tick now = clock.at(timer_.last());
    config_.handoff->dequeue(next_burst());
    return work(now);
  }

  // The one that is empty.
  [[nodiscard]] io::PacketBurst& next_burst() { return turns_[next_].burst; }

  // Sees to what the next burst holds, and to what was started before; whether there was either.
  bool work(Tick now) {
    Turn& arrived = turns_[next_];
    if (arrived.burst.batch().is_empty()) {
      const bool was_started = finish_started();
      if (!was_started) be_idle(now);
      timer_.restart();  // what an empty poll takes is no stage's
      return was_started;
    }
    counters_.cycles.receive += timer_.lap();
    arrived.now = now;
    if constexpr (kHasTwoPhases) {
      function_.start(arrived.burst.batch(), arrived.started);
      counters_.cycles.process += timer_.lap();
      finish_started();
      has_started_ = true;
      next_ = 1 - next_;
    } else {
      finish(arrived);
    }
    return true;
  }

  // Whether there was a batch that was only started.
  bool finish_started() {
    if (!has_started_) return false;
    has_started_ = false;
    finish(turns_[1 - next_]);
    return true;
  }

  // Decides and sends a batch; its burst is empty afterwards.
  void finish(Turn& turn) {
    if constexpr (kHasTwoPhases) {
      function_.finish(turn.burst.batch(), turn.started, turn.now);
    } else {
      function_.process(turn.burst.batch(), turn.now);
    }
    counters_.cycles.process += timer_.lap();
    send_or_drop(turn.burst);
    send_originated();
    counters_.cycles.transmit += timer_.lap();
    be_idle(turn.now);
    counters_.cycles.upkeep += timer_.lap();
    ++counters_.batches;
  }

  void be_idle(Tick now) {
    function_.idle(now, config_.idle_budget);
    send_originated();
  }

  void send_originated() {
    net::Outbox& outbox = function_.outbox();
    if (outbox.is_empty()) return;
    for (size_t i = 0; i < outbox.frame_count(); ++i) {
      const net::Outbox::Frame frame = outbox.frame(i);
      ROOST_ASSERT(frame.out_port < ports_.size());
      ports_[frame.out_port].queue(config_.worker).send(frame.bytes);
      ++counters_.originated;
    }
    outbox.clear();
  }

  // Each port sends its lanes in their order. The other lanes, and copies, stay in the burst, which
  // frees them.
  void send_or_drop(io::PacketBurst& burst) {
    bool is_shared = false;
    bool is_replicated = false;
    for (size_t lane = 0; lane < burst.batch().lane_count(); ++lane) {
      net::LaneVerdict& verdict = burst.batch().verdicts()[lane];
      if (burst.batch().packets()[lane].origin == net::PacketOrigin::kCopy) {
        verdict = net::LaneVerdict();
        continue;
      }
      is_shared |= verdict.is_handoff() || verdict.is_copied();
      if (verdict.is_handoff()) {
        ROOST_ASSERT(config_.handoff != nullptr);
        continue;
      }
      ++counters_.packets;
      if (verdict.is_drop()) {
        ++counters_.drops[verdict.drop_cause()];
      } else if (verdict.is_consumed()) {
        ++counters_.consumed;
      } else if (verdict.is_replicated()) {
        is_replicated = true;
        count_replicas(burst.batch().port_groups(lane));
      } else {
        ROOST_ASSERT(verdict.out_port() < ports_.size());
      }
    }
    if (is_shared) share(burst);
    if (is_replicated) burst.replicate();
    for (io::Port& port : ports_) {
      if (burst.holds_nothing()) break;
      port.queue(config_.worker).transmit(burst);
    }
    burst.clear();
  }

  void count_replicas(std::span<const net::PortGroup> groups) {
    net::PortSet all{};
    for (const net::PortGroup& group : groups) {
      ROOST_ASSERT(!group.ports.empty() && (all & group.ports).empty());
      all |= group.ports;
    }
    for (const unsigned port : all) ROOST_ASSERT(port < ports_.size());
    counters_.replicated += all.count() - 1;
  }

  // What other workers get of the burst. A worker alone copies nothing.
  void share(io::PacketBurst& burst) {
    if (config_.handoff == nullptr) return;
    for (size_t lane = 0; lane < burst.batch().lane_count(); ++lane) {
      if (burst.batch().verdicts()[lane].is_copied()) config_.handoff->copy(burst, lane);
    }
    config_.handoff->enqueue(burst);
  }

  Function& function_;
  std::span<io::Port> ports_;
  WorkerConfig config_;
  WorkerCounters counters_;
  std::array<Turn, 2> turns_;
  size_t next_ = 0;           // of turns_: the one that packets are received into
  bool has_started_ = false;  // the other one
  io::LapTimer timer_;        // of the stages
};

}  // namespace roost::node

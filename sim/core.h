// An out-of-order core: a window of operations, each with the times at which it enters, is done and
// leaves. They follow from the times of those before it and from memory's answers, so only accesses
// to memory are events (docs/decisions/0052).
//
//   enters    in order, issue_width instructions a cycle, when window and queues have room
//   executes  when it has entered and its operands are done
//   done      computing after its cycles; a load when the line is there, or the store before it
//             that it takes its bytes from; a prefetch when it has asked, also if all misses in
//             flight are taken and its line waits for one; a store when its operands are done
//   leaves    in order, issue_width instructions a cycle
//   drains    stores and LOOKUP_NB: in order after leaving, one a cycle, when the line may be
//   written
//
// LOOKUP_B and SNAPSHOT_READ wait until stores before them that touch their bytes have drained: the
// accelerator and the home slice cannot see them before. With `lookup_b = "strict"`, nothing enters
// behind a LOOKUP_B until it is done. Behind a store that does not drain, as many operations enter
// as the ring of them has places: about a thousand.
//
// A core may be one of several threads of a core, with its part of window and queues
// (core_threads.h); then operations enter when it has a turn.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/event_queue.h"
#include "sim/memory_system.h"
#include "sim/program.h"
#include "sim/query.h"

namespace roost::sim {

struct CoreCounts {
  uint64_t instructions = 0;
  uint64_t ops = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t forwarded = 0;  // loads that took a store's bytes
  uint64_t lookups = 0;
  uint64_t snapshots = 0;
  // Cycles in which nothing left, because the oldest operation was a load that waited for a line
  // which neither L1D nor L2 had.
  uint64_t stalled = 0;
  uint64_t l1d_misses = 0;  // loads of lines of which L1D had not all
};

// Ports of L1D for loads, and for what is like one: taken in the order in which they could execute.
class LoadPorts {
 public:
  // The first cycle from now on in which one of `count` is free, which is now taken.
  [[nodiscard]] Cycle take(Cycle now, uint32_t count) {
    if (cycle_ < now) {
      cycle_ = now;
      taken_ = 0;
    }
    if (taken_ == count) {
      ++cycle_;
      taken_ = 0;
    }
    ++taken_;
    return cycle_;
  }

 private:
  Cycle cycle_ = 0;
  uint32_t taken_ = 0;
};

class CoreThreads;

// With whom a thread shares its core.
struct CoreShare {
  CoreThreads* threads = nullptr;  // none: it has the core to itself
  uint32_t count = 1;              // of them, each of which has as large a part of the queues
};

class Core final : public EventTarget, public LineUser {
 public:
  // Runs a program from the current cycle on; the program outlives the core.
  Core(MemorySystem& memory, Tile tile, QuerySink* accelerators, Program& program,
       CoreShare share = {});
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Everything has left and drained.
  [[nodiscard]] bool is_done() const {
    return has_ended_ && !has_next_ && left_ == entered_ && undrained_.empty();
  }
  // When the last operation left, or drained.
  [[nodiscard]] Cycle last_cycle() const { return last_cycle_; }
  [[nodiscard]] const CoreCounts& counts() const { return counts_; }
  // What the core waits for, in words.
  [[nodiscard]] std::string state_in_words() const;

  void handle(const Event& event) override;
  void line_ready(uint32_t tag) override;

  // For CoreThreads. The first cycle in which the next operation may enter; nothing while that is
  // not known.
  [[nodiscard]] std::optional<Cycle> may_enter_from();
  // Has operations enter in this cycle, of at most so many instructions, as far as they may; how
  // many instructions did.
  uint32_t enter_now(uint32_t instructions_max);

 private:
  enum Message : uint32_t { kContinue, kReady, kExecute, kDrain, kResult, kSnapshotReply };
  enum Drain : uint32_t { kWanted, kTaken };  // the index of kDrain: whether it has its cycle
  static constexpr uint32_t kNone = ~0U;

  struct Entry {
    Op op;
    uint64_t sequence = 0;
    Cycle enters = 0;
    Cycle ready = 0;  // when its operands are done
    Cycle done = 0;
    Cycle leaves = 0;
    Cycle drains = 0;
    Cycle missed = 0;       // from when on a load waits for a line, if `has_missed`
    bool is_done = false;   // `done` is known
    bool has_left = false;  // `leaves` is known
    bool has_drained = false;
    bool has_missed = false;
    uint8_t operands_missing = 0;
    uint8_t lines_missing = 0;
    // Who waits for it: a list through `next_dependent`, by place * 2 + which operand.
    uint32_t first_dependent = kNone;
    std::array<uint32_t, 2> next_dependent{kNone, kNone};
  };

  [[nodiscard]] Entry& at(uint64_t sequence) { return ring_[sequence & (ring_.size() - 1)]; }
  [[nodiscard]] const Entry& at(uint64_t sequence) const {
    return ring_[sequence & (ring_.size() - 1)];
  }
  [[nodiscard]] uint32_t place_of(const Entry& entry) const {
    return static_cast<uint32_t>(entry.sequence & (ring_.size() - 1));
  }

  void go_on();
  void enter_all();
  bool fetch_next();
  [[nodiscard]] bool make_room();
  void enter(Cycle when);
  void link_operand(Entry& entry, size_t operand);
  void operands_done(Entry& entry);
  void set_done(Entry& entry, Cycle when);
  void leave_all();
  [[nodiscard]] Cycle stalled_by(const Entry& entry) const;

  void execute(Entry& entry);
  [[nodiscard]] bool waits_for_store(Entry& entry);
  [[nodiscard]] Entry* store_before(const Entry& entry);
  void access_lines(Entry& entry);
  void loaded(Entry& entry, Cycle when);
  void send_query(const Entry& entry, Cycle leaves);
  void take_snapshot(Entry& entry);
  void give_bytes(const Entry& entry, Cycle when);
  void read_bytes(const Entry& entry, std::span<std::byte> to) const;

  void schedule_drain();
  void drain();
  void drain_rest(Entry& entry);
  void drained(Entry& entry, Cycle cycles);

  // Whoever has a line brought and does not wait for it.
  struct Nobody final : LineUser {
    void line_ready(uint32_t /*tag*/) override {}
  };

  MemorySystem& memory_;
  Tile tile_;
  Nobody nobody_;
  QuerySink* accelerators_;
  Program& program_;
  const Parameters& parameters_;
  CoreThreads* threads_;  // nullptr: it is alone
  uint32_t window_;       // its part
  uint32_t load_queue_;
  uint32_t store_queue_;

  std::vector<Entry> ring_;
  uint64_t entered_ = 0;         // operations so far
  uint64_t released_ = 0;        // of those, the first ones whose room in the window was given on
  uint64_t left_ = 0;            // of those, the first ones whose leaving is known
  std::deque<uint64_t> loads_;   // whose room in the load queue was not given on
  std::deque<uint64_t> stores_;  // the same in the store queue
  std::deque<uint64_t> undrained_;  // stores that have not drained, in order
  std::vector<uint64_t> blocked_;   // loads that wait until a store has drained
  uint64_t window_used_ = 0;
  Cycle room_from_ = 0;  // when the room that was given on last became free
  uint64_t enter_slot_ = 0;
  uint64_t leave_slot_ = 0;
  Cycle fetch_from_ = 0;
  uint64_t stopped_by_ = ~uint64_t{0};  // the operation that fetching waits for
  Op next_;
  bool has_next_ = false;
  uint32_t begun_ = 0;  // of its instructions, those that took their places in cycles before
  bool has_ended_ = false;
  bool continues_later_ = false;
  bool waits_for_line_ = false;  // the store that drains next
  Cycle drain_at_ = 0;           // the earliest cycle of the next drain
  bool drain_is_due_ = false;
  LoadPorts own_ports_;
  LoadPorts& ports_;
  Cycle last_cycle_ = 0;
  CoreCounts counts_;
};

}  // namespace roost::sim

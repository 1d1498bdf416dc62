// L1D and L2 of a core, and its misses in flight.
//
// L2 holds all that L1D holds. A line is shared (others may have it), exclusive or modified (no
// other core has it; it may be written). What neither has is asked of the line's home slice; that
// asks back by snoops when another one wants the line. A snoop of a line that is on its way here
// waits for it, and for those who wait for it: so a store that has got its line is done before the
// line goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/cache_array.h"
#include "sim/event_queue.h"
#include "sim/mesh.h"
#include "sim/parameters.h"

namespace roost::sim {

class MemorySystem;

enum class LineState : uint8_t { kShared, kExclusive, kModified };
enum class Wanted : uint8_t { kRead, kWrite };

// Whoever waits for lines: a core.
class LineUser {
 public:
  // The line of an access that missed is there; one that wants to write may do so now.
  virtual void line_ready(uint32_t tag) = 0;

 protected:
  ~LineUser() = default;
};

struct PrivateCacheCounts {
  uint64_t l1_hits = 0;
  uint64_t l2_hits = 0;
  uint64_t l2_misses = 0;  // requests to home slices, upgrades too
  uint64_t refused = 0;    // of those, writes of locked lines
  uint64_t snoops = 0;
  uint64_t prefetches = 0;
};

class PrivateCache final : public EventTarget {
 public:
  // What arrives here.
  enum Message : uint32_t {
    kFill,             // index: the LineState
    kRefused,          // the line is locked: ask again later
    kAskAgain,         // to itself
    kSnoopShare,       // give it, keep it shared
    kSnoopInvalidate,  // give it away
    kSnoopPeek,        // give its bytes, keep it as it is
  };

  PrivateCache(MemorySystem& memory, Tile tile);

  // An access to a line, now. Cycles until it is there, if L1D or L2 has it with the right wanted;
  // a write is done then. Else user->line_ready(tag) is called when it is there; never, if there is
  // no user.
  std::optional<Cycle> access(uint64_t line, Wanted wanted, LineUser* user, uint32_t tag);

  // Asks for the right to write a line that a store will need, if it is not there.
  void prefetch_to_write(uint64_t line);

  // Cycles until a line is there, if it is in L1D or L2, without any change; else nothing.
  [[nodiscard]] std::optional<Cycle> look(uint64_t line);

  // The home slice has answered: what comes cannot be taken back.
  void grant(uint64_t line);
  // Whether a line is on its way here.
  [[nodiscard]] bool is_granted(uint64_t line);
  // Has a line that its home knows to be shared, from the beginning on.
  void begin_with(uint64_t line) { (void)install(line, LineState::kShared); }
  // Loses a line, which is not on its way, without being asked. Whether it was modified.
  bool drop(uint64_t line);

  void handle(const Event& event) override;

  [[nodiscard]] const PrivateCacheCounts& counts() const { return counts_; }
  // The state of a line in L2, for checks.
  [[nodiscard]] std::optional<LineState> state(uint64_t line);
  [[nodiscard]] bool is_quiet() const { return misses_.empty() && stalled_.empty(); }
  // Calls visit(line, state) for each line in L2.
  template <class Visit>
  void for_each_line(Visit&& visit) const {
    l2_.for_each([&](const auto& entry) { visit(entry.line, entry.state); });
  }

 private:
  struct L1State {
    bool may_write = false;
    bool is_dirty = false;
  };
  using L1Entry = CacheArray<L1State>::Entry;
  using L2Entry = CacheArray<LineState>::Entry;

  struct Waiter {
    LineUser* user;
    uint32_t tag;
    Wanted wanted;
  };
  struct Miss {
    uint64_t line;
    Wanted wanted;
    bool is_granted = false;
    std::vector<Waiter> waiters{};
    std::vector<Event> snoops{};
  };
  struct Stalled {
    uint64_t line;
    Waiter waiter;
  };

  void start_miss(uint64_t line, Waiter waiter);
  void prefetch_beside(uint64_t line);
  void ask(uint64_t line, Wanted wanted, Cycle leaves);
  void fill(uint64_t line, LineState state);
  [[nodiscard]] bool install(uint64_t line, LineState state);
  void put_in_l1(uint64_t line, bool may_write);
  bool remove(L2Entry& entry);
  void give_up(L2Entry& entry);
  void answer(const Event& snoop);
  [[nodiscard]] Miss* miss_of(uint64_t line);
  bool write_back_l1(uint64_t line);

  MemorySystem& memory_;
  Tile tile_;
  CacheArray<L1State> l1_;
  CacheArray<LineState> l2_;
  std::vector<Miss> misses_;
  std::deque<Stalled> stalled_;
  PrivateCacheCounts counts_;
};

}  // namespace roost::sim

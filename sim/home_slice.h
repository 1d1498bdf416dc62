// A slice of the last-level cache with its caching and home agent: the lines whose home it is, who
// else has them, which are locked.
//
// One transaction of a line at a time: while one waits for a core's answer or for DRAM, others of
// the line queue up. One request enters the pipeline a cycle. State changes when a request enters,
// or when what it waited for has come.
//
// Victim cache (Skylake-SP): the slice holds what cores gave up, and what accelerators read; a line
// that a core alone gets leaves it. Who has a line stands in a snoop filter, whose evictions take
// the line from the cores. Inclusive: the slice holds every line that a core has, and says itself
// who has it; what it evicts, cores lose.
//
// A locked line is not evicted, not given to be written (the writer is refused, and asks again),
// and given to readers as shared. Where all ways of a set are locked, an accelerator's read passes
// by the cache, and a core's fill of an inclusive slice waits for an unlock: lookups never wait for
// room.
//
// Invariants, which audit() checks when nothing is under way:
//   1  A core has a line exclusive or modified only if it is the owner here, and nobody else has
//   it. 2  A core that has a line is known here. 3  No line is locked, and no transaction is open.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/cache_array.h"
#include "sim/event_queue.h"
#include "sim/lock_table.h"
#include "sim/mesh.h"
#include "sim/private_cache.h"

namespace roost::sim {

class MemorySystem;

struct HomeSliceCounts {
  uint64_t requests = 0;
  uint64_t llc_hits = 0;
  uint64_t dram_reads = 0;
  uint64_t core_dram_reads = 0;  // of those, for a core's cache
  uint64_t snoops = 0;
  uint64_t refused = 0;  // writes of locked lines
  uint64_t back_invalidations = 0;
  uint64_t passed_by = 0;  // lines that found all ways of their set locked
};

class HomeSlice final : public EventTarget {
 public:
  // What arrives here; the argument is the line where nothing else is said.
  enum Message : uint32_t {
    kGetShared,     // index: the core
    kGetWritable,   // index: the core
    kSnapshot,      // argument: number of a snapshot in flight
    kRead,          // index: accelerator_read()
    kReadMetadata,  // the same
    kDropMetadata,  // index: the accelerator
    kLock,          // index: the accelerator
    kUnlock,        // index: the accelerator
    kWriteResult,   // argument: number of a result in flight
    kSnoopAnswer,   // index: kWasModified, kHadNoLine
    kDramAnswer,
    kTryAgain,  // to itself: there may be room now
  };
  static constexpr uint32_t kWasModified = 1;
  static constexpr uint32_t kHadNoLine = 2;
  // The index of an accelerator's read: who, and its identifier.
  [[nodiscard]] static uint32_t accelerator_read(Tile accelerator, uint32_t identifier) {
    return accelerator << 16 | identifier;
  }

  HomeSlice(MemorySystem& memory, Tile tile);

  void handle(const Event& event) override;

  // From the beginning on the slice holds a line; a core shares it, if there is room to know of it.
  void begin_with(uint64_t line) { keep(line, false); }
  [[nodiscard]] bool begin_shared(uint64_t line, Tile core);
  // A core has given up a line.
  void evicted(Tile core, uint64_t line, bool is_dirty);

  [[nodiscard]] const HomeSliceCounts& counts() const { return counts_; }
  [[nodiscard]] const LockTable& locks() const { return locks_; }
  // Whether the slice holds a line, for checks.
  [[nodiscard]] bool holds(uint64_t line) { return llc_.find(line, set_index(line)) != nullptr; }
  // The first broken invariant, in words. Nothing may be under way.
  [[nodiscard]] std::optional<std::string> audit();

 private:
  static constexpr int kNobody = -1;
  // Who has a line: cores, and accelerators as metadata.
  struct Sharing {
    uint16_t cores = 0;
    uint16_t accelerators = 0;
    int8_t owner = kNobody;
    [[nodiscard]] bool is_empty() const { return cores == 0 && accelerators == 0; }
  };
  struct LlcState {
    bool is_dirty = false;
    Sharing sharing{};  // of an inclusive slice
  };
  using LlcEntry = CacheArray<LlcState>::Entry;
  using FilterEntry = CacheArray<Sharing>::Entry;

  struct Request {
    uint32_t kind;
    uint32_t index;
    uint64_t line;
    uint64_t argument;
    [[nodiscard]] bool is_of_core() const { return kind == kGetShared || kind == kGetWritable; }
  };
  struct Transaction {
    Request request;
    uint32_t answers_missing = 0;
    bool has_data = false;  // a core or DRAM has sent the line
    bool is_dirty = false;  // the core had modified it
    std::vector<Request> waiting{};
  };

  [[nodiscard]] uint64_t set_index(uint64_t line) const { return line >> slice_bits_; }
  [[nodiscard]] bool is_inclusive() const;
  [[nodiscard]] Transaction* transaction_of(uint64_t line);
  [[nodiscard]] LlcEntry* in_llc(uint64_t line) { return llc_.find(line, set_index(line)); }
  [[nodiscard]] Sharing sharing_of(uint64_t line);
  // Where to write who has a line; nullptr if there is no room now.
  [[nodiscard]] Sharing* sharing_to_change(uint64_t line);
  void forget_if_empty(uint64_t line);
  [[nodiscard]] bool may_be_evicted(uint64_t line, const Sharing& sharing);
  // Puts a line into the slice; nullptr where all ways are locked.
  LlcEntry* allocate(uint64_t line, bool is_dirty);
  void evict(LlcEntry& entry);
  // Takes a line from all who have it; whether one had modified it.
  bool take_back(uint64_t line, const Sharing& sharing);

  void begin(const Request& request);
  void open(const Request& request);
  void advance(Transaction& transaction);
  void close(uint64_t line);

  // Asks cores, accelerators or DRAM for what a request needs before it can be answered. How many
  // answers will come; 0 if it has everything.
  uint32_t ask(const Request& request, Cycle tag_done);
  uint32_t take_from_all(const Sharing& sharing, uint32_t cores, uint64_t line, Cycle tag_done);
  void snoop(Tile core, uint32_t kind, uint64_t line, Cycle leaves);
  uint32_t ask_dram(const Request& request, Cycle at);
  [[nodiscard]] bool needs_data(const Request& request);

  // What was asked for, when a request is answered.
  struct Found {
    Cycle at;               // when the tags, or what was asked for, were there
    bool has_data = false;  // a core or DRAM has sent the line
    bool is_dirty = false;
  };
  // Each answers a request; false if there is no room now.
  bool answer(const Request& request, const Found& found);
  bool answer_core(const Request& request, const Found& found);
  bool answer_accelerator(const Request& request, const Found& found);
  void answer_snapshot(const Request& request, const Found& found);
  void write_result(const Request& request);
  void refuse(const Request& request, Cycle tag_done);
  // When the line can leave.
  Cycle data_at(uint64_t line, const Found& found);
  // A line that has come stays here, if there is room; else it goes to DRAM, if modified.
  void keep(uint64_t line, bool is_dirty);

  MemorySystem& memory_;
  Tile tile_;
  uint32_t slice_bits_;
  CacheArray<LlcState> llc_;
  CacheArray<Sharing> filter_;
  LockTable locks_;
  SlotCalendar pipeline_;
  std::deque<Transaction> transactions_;
  HomeSliceCounts counts_;
};

}  // namespace roost::sim

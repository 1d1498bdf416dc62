// The lookup unit beside a slice (HALO, section 4.3): a scoreboard of queries, a cache of metadata,
// a hash unit, a mask unit, comparators and queues. A synchronous circuit with registered outputs:
// what it offers in a cycle is a function of its state, and tick() ends the cycle
// (docs/decisions/0054). The same circuit stands in SystemVerilog; both are driven by the same
// inputs and must offer the same in every cycle.
//
// A query's steps, each at least a cycle:
//
//   metadata   from the cache, or read; the line's address is the table's
//   key        read by its address, or in the command
//   mask       if the table has one
//   hash       and with it the flow register's bit, both buckets and the signature
//   locks      of both buckets, or of the first one with `filter`
//   bucket     read; signatures compared, eight at once
//   entry      locked, read and compared, for each signature that is the key's
//              after another key the next candidate, then the other bucket, then the stash if the
//              table has one
//   commit     the word goes to the result queue; the locks are given back; the place is free
//
// In a cycle each unit serves one query, the one that has been in the scoreboard longest among
// those that want it. Who is served, and what a query finds, depends on what was true at the
// cycle's beginning (docs/decisions/0057). Every access to a table lies within its base and limit,
// or the query is refused.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/metadata_cache.h"
#include "sim/parameters.h"
#include "sim/query.h"
#include "sim/table_format.h"

namespace roost::sim {

// A query at the accelerator's boundary. The token comes back with the result.
struct AcceleratorQuery {
  uint32_t token = 0;
  uint64_t table = 0;
  uint64_t key_address = 0;
  bool has_key = false;
  bool has_hash = false;
  uint64_t hash = 0;
  KeyBytes key{};
};

enum class AcceleratorRead : uint8_t { kLine, kMetadata, kDropMetadata };

struct AcceleratorInputs {
  std::optional<AcceleratorQuery> query{};  // offered; taken if outputs().query_ready
  bool memory_ready = true;
  bool lock_ready = true;
  bool result_ready = true;
  struct Reply {
    uint32_t identifier;
    LineBytes bytes;
  };
  std::optional<Reply> reply{};
  std::optional<uint64_t> invalidate{};  // a line of metadata
  bool clear_flows = false;
};

// What is offered in a cycle; what is there stays until it is taken.
struct AcceleratorOutputs {
  bool query_ready = true;
  bool busy = false;  // no place in the scoreboard is free
  struct MemoryRequest {
    AcceleratorRead read = AcceleratorRead::kLine;
    uint32_t identifier = 0;  // of the reply; kDropMetadata has none
    uint64_t line = 0;
    friend bool operator==(const MemoryRequest&, const MemoryRequest&) = default;
  };
  std::optional<MemoryRequest> memory{};
  struct Lock {
    bool is_lock = false;
    uint64_t line = 0;
    friend bool operator==(const Lock&, const Lock&) = default;
  };
  std::optional<Lock> lock{};
  struct LookupResult {
    uint32_t token = 0;
    uint64_t word = 0;
    friend bool operator==(const LookupResult&, const LookupResult&) = default;
  };
  std::optional<LookupResult> result{};
};

struct AcceleratorCounts {
  uint64_t admitted = 0;
  uint64_t completed = 0;
  uint64_t line_reads = 0;  // of buckets and entries
  uint64_t key_reads = 0;
  uint64_t metadata_reads = 0;
  uint64_t locks = 0;
  uint64_t hashes = 0;
  uint64_t second_buckets = 0;
  uint64_t mismatches = 0;  // entries with the key's signature and another key
  uint64_t refused = 0;
};

class Accelerator {
 public:
  explicit Accelerator(const Parameters& parameters);

  [[nodiscard]] const AcceleratorOutputs& outputs() const { return outputs_; }
  // Ends a cycle in which these inputs were there, together with outputs(). Time linear in the
  // scoreboard.
  void tick(const AcceleratorInputs& inputs);
  // Whether a cycle without query, reply and invalidation would change nothing.
  [[nodiscard]] bool is_idle() const;

  // The flow register (section 4.6): bit H mod S of the hashes since it was cleared.
  [[nodiscard]] const std::vector<bool>& flow_bits() const { return flow_bits_; }
  [[nodiscard]] uint32_t unset_flow_bits() const;

  // Queries in the scoreboard.
  [[nodiscard]] uint32_t occupancy() const { return static_cast<uint32_t>(order_.size()); }
  [[nodiscard]] const AcceleratorCounts& counts() const { return counts_; }
  // What the queries in flight wait for, in words.
  [[nodiscard]] std::string state_in_words() const;

 private:
  enum class Step : uint8_t {
    kFree,
    kMetadata,
    kDropMetadata,
    kReadMetadata,
    kMetadataWait,
    kKeyRead,
    kKeyWait,
    kMask,
    kHash,
    kLockPrimary,
    kLockSecondary,
    kBucketRead,
    kBucketWait,
    kTags,
    kLockEntry,
    kEntryRead,
    kEntryWait,
    kCompare,
    kUnlockEntry,
    kCandidate,
    kCommit,
    kUnlock,
  };
  // What can serve one query a cycle.
  enum Unit : uint32_t {
    kMetadataUnit,
    kMemoryPort,
    kLockPort,
    kMaskUnit,
    kHashUnit,
    kTagUnit,
    kKeyUnit,
    kResultPort,
    kUnits
  };

  struct Place {
    Step step = Step::kFree;
    uint32_t cycles_left = 0;  // of the unit that serves it
    AcceleratorQuery query{};
    std::optional<Unit> granted{};  // in this cycle
    uint32_t metadata_place = 0;
    bool has_metadata = false;
    bool waits_for_metadata = false;  // which another query reads into that place
    uint64_t given_up = 0;            // the table whose metadata line goes for this one
    KeyBytes key{};                   // masked
    uint64_t hash = 0;
    KeyPlaces places{};
    uint64_t bucket = 0;  // the one that is looked at
    uint32_t buckets_seen = 0;
    bool may_be_stashed = false;
    LineBytes bucket_line{};
    uint32_t candidates = 0;
    unsigned slot = 0;
    uint64_t word = 0;
    // Reads of up to two lines: where, how many bytes; parts that were asked for, and have come.
    uint64_t read_address = 0;
    uint64_t read_bytes = 0;
    uint32_t parts_asked = 0;
    uint32_t parts_here = 0;
    std::array<LineBytes, 2> read_lines{};
    // Lines that are locked, in the order of locking: buckets, then the entry's.
    std::array<uint64_t, 4> locked{};
    uint32_t bucket_locks = 0;
    uint32_t entry_locks = 0;
  };

  [[nodiscard]] const TableMetadata& table_of(const Place& place) const;
  [[nodiscard]] static uint32_t parts_of(const Place& place);

  void take_replies(const AcceleratorInputs& inputs);
  void take_reply(Place& place, uint32_t part, const LineBytes& bytes);
  void serve_all();
  void grant_units();
  [[nodiscard]] std::optional<Unit> unit_wanted(const Place& place) const;
  [[nodiscard]] uint32_t unit_cycles(const Place& place) const;
  void begin_service(uint32_t index, Unit unit);
  void served(uint32_t index);
  void use_memory_port(uint32_t index);
  void use_lock_port(uint32_t index);
  void admit(const AcceleratorInputs& inputs);

  void metadata_found(Place& place);
  void with_metadata(Place& place);
  void with_key(Place& place);
  void with_hash(Place& place);
  void read_bucket(Place& place, uint64_t bucket);
  void bucket_compared(Place& place);
  void next_candidate(Place& place);
  void next_bucket(Place& place);
  void entry_compared(Place& place);
  void end(Place& place, uint64_t word);
  void free_places();
  // Begins a read of bytes; false, and the query is refused, if they are not the table's.
  bool begin_read(Place& place, uint64_t address, uint64_t bytes, Step step);

  const Parameters parameters_;
  bool has_locks_;
  bool uses_filter_;
  std::vector<Place> places_;
  std::vector<uint32_t> order_;  // places in use, the oldest query first
  std::vector<uint32_t> ended_;  // places that are free from the next cycle on
  MetadataCache metadata_;
  std::deque<AcceleratorQuery> commands_;
  std::deque<AcceleratorOutputs::LookupResult> results_;
  AcceleratorOutputs outputs_;
  uint32_t lock_owner_ = 0;  // the place whose lock the lock port offers
  uint32_t hash_busy_ = 0;   // cycles until the hash unit takes the next key
  uint32_t key_busy_ = 0;    // the same of the key comparator
  bool memory_free_ = true;  // whether the port's register can be filled in this cycle
  bool lock_free_ = true;
  std::array<bool, kUnits> unit_taken_{};
  std::vector<bool> flow_bits_;
  AcceleratorCounts counts_;
};

}  // namespace roost::sim

// What a core runs that looks keys up itself: the accesses of a lookup in the table's real bytes,
// each behind those that it needs, among so many other instructions as the real program has
// (software_costs).
//
//   one key a call   key, hash, bucket, entry of a candidate, and the other bucket if it is not
//                    there; the next key's begins while this one's lines are on their way, as far
//                    as the window goes and branches are foreseen
//   many a call      stage by stage over all keys of the call: hash, and ask for buckets' lines;
//                    look at buckets, and ask for entries; compare. rte_hash asks for both buckets
//                    and looks at both; ours for the second one only where the first one's filter
//                    lets a key be there, in a stage of its own
//   several tables   each under its mask (docs/decisions/0059): the key is masked, and the masked
//                    one looked up as above; of a call of many, those keys that no table before
//                    had. Whether there is a next table, and for which keys, is a branch
//
// A branch that depends on where a key is found is foreseen if it is where the last one's was.
// That is: rte_hash goes through a bucket's eight signatures by a loop in a lookup of one key, and
// asks whether there is a candidate in lookups of many; ours decides nothing by branches, but that
// a candidate was another key.
//
// Instructions beside those accesses come between the stages, in equal parts; their loads and
// stores are of lines that stay in L1D. No more of them are done a cycle than
// `software.ten_instructions_cycles` says.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/lookup_program.h"
#include "sim/parameters.h"
#include "sim/program.h"
#include "sim/software_costs.h"
#include "sim/table_format.h"

namespace roost::sim {

class SoftwareProgram final : public Program {
 public:
  // All of it outlives the program. The tables are of the paper's format for rte_hash's costs, and
  // of ours for ours.
  SoftwareProgram(const LookupTrace& trace, const SoftwareCost& cost, const LookupShare& share,
                  std::span<const TableMetadata> tables, const SimulatedMemory& memory,
                  const Parameters& parameters);

  Fetch fetch(Op& op) override;
  void completed(uint32_t tag, Cycle when, std::span<const std::byte> bytes) override;

  // Keys that were begun; of those, found; words that are found though the trace says that the key
  // is not there, or the other way about.
  [[nodiscard]] uint64_t answered() const { return next_; }
  [[nodiscard]] uint64_t found() const { return found_; }
  [[nodiscard]] uint64_t wrong() const { return wrong_; }

 private:
  // A key of the call that is being written, with the numbers of operations others wait for.
  struct Lane {
    uint64_t number = 0;
    LookupPath path{};
    uint64_t address = 0;  // of the key, or of the masked one
    uint64_t hashed = 0;
    uint64_t searched = 0;
    uint64_t decided = 0;  // whether the key is in the table
  };

  void write_search();
  void write_call();
  void add_lane(uint64_t number);
  void mask_key(Lane& lane);
  void end_call(uint32_t found);
  void begin(Lane& lane);
  void write_one_by_one(Lane& lane);
  void match(Lane& lane);
  void finish(Lane& lane);
  void look(Lane& lane, size_t number, FetchStop stop);
  void compare(Lane& lane, size_t number, FetchStop stop);
  void ask_for(uint64_t address, uint64_t after);
  FetchStop foreseen(size_t branch, uint32_t outcome);
  void fill();

  uint64_t put(Op op, std::array<uint64_t, 2> after);
  [[nodiscard]] const TableMetadata& table() const { return tables_[table_]; }
  [[nodiscard]] bool is_own() const { return !table().is_paper(); }

  LookupTrace trace_;
  const SoftwareCost& cost_;
  LookupShare share_;
  std::span<const TableMetadata> tables_;
  size_t table_ = 0;  // that the call is of
  const SimulatedMemory& memory_;
  const Parameters& parameters_;
  uint64_t next_ = 0;  // of the share's keys
  uint64_t found_ = 0;
  uint64_t wrong_ = 0;
  std::deque<Op> ops_;
  uint64_t put_ = 0;            // operations so far; the number of one counts from 1
  std::vector<uint64_t> open_;  // keys that no table had so far
  std::vector<Lane> lanes_;
  InstructionCounts owed_{};  // of the lookups that were begun, and not written yet
  uint64_t parts_left_ = 0;   // that it will be written in
  uint64_t filled_ = 0;       // the last of these instructions
  double cycles_owed_ = 0;    // of them
  std::vector<std::array<uint32_t, 4>> last_;  // outcomes of branches, by table
};

}  // namespace roost::sim

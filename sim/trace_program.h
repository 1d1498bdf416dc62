// A core that does what a real program did to memory (memory_trace.h). What a trace does not say
// is taken from the machine's numbers (docs/decisions/0061):
//
//   computing     instructions that access nothing are a chain, of ten of which as many cycles as
//                 `software.ten_instructions_cycles` says
//   waiting       of ten loads, `neighbour.waiting_loads` wait for the load before them and for
//                 what is computed by then; what is computed next waits for those
//   branches      are foreseen; fetching takes no time
//   bytes         zeroes are written
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "sim/memory_trace.h"
#include "sim/parameters.h"
#include "sim/program.h"

namespace roost::sim {

class TraceProgram final : public Program {
 public:
  // Replays some accesses of a trace, in their order; they outlive the program.
  TraceProgram(std::span<const MemoryTrace::Access> accesses, const Parameters& parameters)
      : accesses_(accesses),
        waiting_of_ten_(parameters.neighbour_waiting_loads),
        ten_instructions_cycles_(parameters.software_ten_instructions_cycles) {}

  Fetch fetch(Op& op) override;
  void completed(uint32_t /*tag*/, Cycle /*when*/, std::span<const std::byte> /*bytes*/) override {}

  // All operations were fetched.
  [[nodiscard]] bool has_ended() const { return next_ == accesses_.size() && ops_.empty(); }

 private:
  void write(const MemoryTrace::Access& access);
  void compute(uint32_t instructions);
  void put(Op op, uint64_t after, uint64_t also_after = 0);

  std::span<const MemoryTrace::Access> accesses_;
  uint32_t waiting_of_ten_;
  uint32_t ten_instructions_cycles_;
  size_t next_ = 0;
  std::deque<Op> ops_;
  uint64_t put_ = 0;         // operations so far; the number of one counts from 1
  uint64_t computed_ = 0;    // the last operation that computes
  uint64_t loaded_ = 0;      // the last load
  bool has_waited_ = false;  // that one waited for the one before
  uint64_t loads_ = 0;
  uint64_t tenths_owed_ = 0;  // of cycles of computing
};

}  // namespace roost::sim

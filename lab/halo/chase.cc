#include "lab/halo/chase.h"

#include <numeric>
#include <utility>

#include "roost/base/assert.h"
#include "roost/traffic/draw.h"
#include "sim/lookup_run.h"
#include "sim/machine.h"
#include "sim/program.h"

namespace roost::lab {
namespace {

class ChaseProgram final : public sim::Program {
 public:
  ChaseProgram(std::span<const uint32_t> cycle, uint64_t steps) : cycle_(cycle), left_(steps) {}

  sim::Fetch fetch(sim::Op& op) override {
    if (left_ == 0) return sim::Fetch::kEnd;
    --left_;
    op = {.kind = sim::OpKind::kLoad,
          .after = {1, 0},
          .address = sim::kRunTableAddress + at_ * sizeof(ChaseLine)};
    at_ = cycle_[at_];
    return sim::Fetch::kOp;
  }
  void completed(uint32_t /*tag*/, sim::Cycle /*when*/,
                 std::span<const std::byte> /*bytes*/) override {}

 private:
  std::span<const uint32_t> cycle_;
  uint64_t left_;
  uint64_t at_ = 0;
};

}  // namespace

// Sattolo's shuffle, whose only difference from a fair one is that no line stays in its place.
std::vector<uint32_t> chase_cycle(uint64_t lines, uint64_t seed) {
  ROOST_ASSERT(lines >= 2 && lines >> 32 == 0);
  std::vector<uint32_t> next(lines);
  std::iota(next.begin(), next.end(), 0U);
  traffic::Draw draw(seed);
  for (uint64_t i = lines - 1; i > 0; --i) std::swap(next[i], next[draw.below(i)]);
  return next;
}

void link_chase(std::span<ChaseLine> lines, std::span<const uint32_t> cycle) {
  for (size_t i = 0; i < lines.size(); ++i) lines[i].next = &lines[cycle[i]];
}

const ChaseLine* chase(const ChaseLine* from, uint64_t steps) {
  for (; steps > 0; --steps) from = from->next;
  return from;
}

Result<double> simulate_chase(const sim::Parameters& parameters, std::span<const uint32_t> cycle,
                              uint64_t steps) {
  sim::Machine machine(parameters);
  ChaseProgram round(cycle, cycle.size());
  machine.start(0, round);
  const auto warmed = machine.run();
  if (!warmed) return warmed.error();
  const sim::Cycle began = machine.events().now();
  ChaseProgram counted(cycle, steps);
  machine.start(0, counted);
  const auto ended = machine.run();
  if (!ended) return ended.error();
  return static_cast<double>(ended.value() - began) / static_cast<double>(steps);
}

}  // namespace roost::lab

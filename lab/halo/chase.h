// A pointer chase: the lines of a region in one cycle by chance, each of which says where the next
// one is. A step takes as long as a load of a line that is where the region fits.
//
// The same cycle on this machine and on a simulated one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "sim/parameters.h"

namespace roost::lab {

// next[i] is the line behind line i; all lines are in one cycle. `lines` is at least 2, and below
// 2^32.
[[nodiscard]] std::vector<uint32_t> chase_cycle(uint64_t lines, uint64_t seed);

struct alignas(64) ChaseLine {
  const ChaseLine* next;
  std::byte rest[56];
};
static_assert(sizeof(ChaseLine) == 64, "a line");

// Writes the cycle into memory.
void link_chase(std::span<ChaseLine> lines, std::span<const uint32_t> cycle);

// Goes on from a line; where it ends.
[[nodiscard]] const ChaseLine* chase(const ChaseLine* from, uint64_t steps);

// Cycles a step, on a simulated core that has gone round once before. Errors: as Machine::run().
[[nodiscard]] Result<double> simulate_chase(const sim::Parameters& parameters,
                                            std::span<const uint32_t> cycle, uint64_t steps);

}  // namespace roost::lab

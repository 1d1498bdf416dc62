// Caches as those of a machine that has asked a table for long: without that, the first lookup of
// each line waits for DRAM, and as many lookups as a large table takes to be warm are not
// simulated.
#pragma once

#include <cstdint>

#include "sim/memory_system.h"

namespace roost::sim {

// Puts lines of `bytes` bytes from `address` on into the last-level cache, and into L1D and L2 of
// the first `cores` cores, as many as each has room for: parts of them that are drawn evenly, the
// same ones every time. Takes no cycle; at the beginning of a simulation.
void begin_cached(MemorySystem& memory, uint64_t address, uint64_t bytes, uint32_t cores);

}  // namespace roost::sim

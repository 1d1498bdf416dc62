// An rte_hash, made as every contestant has it: CRC32 as its hash, memory of the thread's socket.
#pragma once

#include <cstdint>
#include <memory>

#include "lab/harness/contestant.h"
#include "roost/base/result.h"

struct rte_hash;

namespace roost::lab {

struct RteHashFree {
  void operator()(rte_hash* table) const;
};
using RteHashHandle = std::unique_ptr<rte_hash, RteHashFree>;

struct MadeRteHash {
  RteHashHandle table;
  uint64_t bytes;  // taken from DPDK's heap
};

// What of DPDK's heap is taken now, on the thread's socket.
[[nodiscard]] uint64_t dpdk_heap_bytes_taken();

// Needs a started Eal. `flags`: of rte_hash_parameters::extra_flag. Errors: no memory, a number of
// entries out of range.
[[nodiscard]] Result<MadeRteHash> make_rte_hash(uint64_t entries, uint32_t key_bytes,
                                                uint8_t flags = 0);

// Of a table that is full: a bucket of 8, then the entry of data and key.
[[nodiscard]] FewestLines fewest_lines_of(const rte_hash& table, uint64_t key_bytes);

}  // namespace roost::lab

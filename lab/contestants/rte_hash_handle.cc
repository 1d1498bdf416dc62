#include "lab/contestants/rte_hash_handle.h"

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include <string>
#include <utility>

namespace roost::lab {

uint64_t dpdk_heap_bytes_taken() {
  rte_malloc_socket_stats stats{};
  return rte_malloc_get_socket_stats(static_cast<int>(rte_socket_id()), &stats) == 0
             ? stats.heap_allocsz_bytes
             : 0;
}

void RteHashFree::operator()(rte_hash* table) const { rte_hash_free(table); }

Result<MadeRteHash> make_rte_hash(uint64_t entries, uint32_t key_bytes, uint8_t flags) {
  static int made = 0;  // names are taken once a process
  const std::string name = "roost_lab_" + std::to_string(made++);
  rte_hash_parameters parameters{};
  parameters.name = name.c_str();
  parameters.entries = static_cast<uint32_t>(entries);
  parameters.key_len = key_bytes;
  parameters.hash_func = rte_hash_crc;
  parameters.extra_flag = flags;
  parameters.socket_id = static_cast<int>(rte_socket_id());
  const uint64_t bytes_before = dpdk_heap_bytes_taken();
  RteHashHandle table(rte_hash_create(&parameters));
  if (!table) {
    return Error{"rte_hash of " + std::to_string(entries) + " entries: " + rte_strerror(rte_errno)};
  }
  return MadeRteHash{std::move(table), dpdk_heap_bytes_taken() - bytes_before};
}

FewestLines fewest_lines_of(const rte_hash& table, uint64_t key_bytes) {
  constexpr uint64_t kSlotsPerBucket = 8;
  constexpr uint64_t kBucketBytes = 64;
  constexpr uint64_t kEntryAlignment = 16;
  const uint64_t entry_bytes =
      (sizeof(void*) + key_bytes + kEntryAlignment - 1) / kEntryAlignment * kEntryAlignment;
  const uint64_t slots = static_cast<uint64_t>(rte_hash_max_key_id(&table)) + 1;
  return {.first_bytes = slots / kSlotsPerBucket * kBucketBytes,
          .second_bytes = slots * entry_bytes};
}

}  // namespace roost::lab

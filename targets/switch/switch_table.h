// What a switch's tables and registers hold, of a Parrot image.
//
//   ranges     match by prefixes, the longest wins: the destination address -> bucket
//   seeds, values, slot_keys    registers by bucket, by slot and by slot
//   stash_first                 register by bucket: an entry of the stash, or 0
//   stash_keys, stash_values    registers by entry, from 1
//   overflow   exact match: keys whose entries a packet would not get to, with their values
//
// A packet looks at so many entries of the stash, from its bucket's first one on. Which are its
// bucket's need not be said: an entry of another bucket has a key that leads there (X-108: whole
// keys are compared). Of a failed bucket no slot has a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "roost/compact/parrot_layout.h"
#include "targets/switch/prefixes.h"

namespace roost::targets {

enum class Register : uint8_t {
  kSeeds,
  kValues,
  kSlotKeys,
  kStashFirst,
  kStashKeys,
  kStashValues,
  kCrc8,  // by byte, the CRC of it: CRC-8 byte by byte
};
inline constexpr size_t kRegisterCount = 7;

[[nodiscard]] std::string_view name_of(Register which);

// As many entries of the stash as a packet can look at: there is no loop (PAR-15).
inline constexpr uint32_t kStashReadsMax = 2;

struct OverflowEntry {
  uint64_t key = 0;
  uint32_t value = 0;
};

struct SwitchTable {
  compact::ParrotShape shape{};
  uint32_t stash_reads = 0;
  uint64_t bucket_count = 0;
  std::vector<RangeEntry> ranges{};                               // of all addresses
  std::array<std::vector<uint64_t>, kRegisterCount> registers{};  // none of them has no cells
  std::vector<OverflowEntry> overflow{};
  uint64_t stashed = 0;  // entries of the stash that packets get to

  [[nodiscard]] std::span<const uint64_t> cells(Register which) const {
    return registers[static_cast<size_t>(which)];
  }

  // `stash_reads`: at most kStashReadsMax. Errors: no Parrot image, or a damaged one; keys of more
  // than 48 bits; fingerprints; more than 100,000 buckets of a model without steps, each of which
  // takes many prefixes instead of two. Time linear in buckets and prefixes.
  static Result<SwitchTable> of_image(std::span<const std::byte> image,
                                      uint32_t stash_reads = kStashReadsMax);
};

}  // namespace roost::targets

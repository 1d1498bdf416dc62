// What a Parrot table would take of a Tofino 1, by arithmetic: analytic, no compiler or switch was
// asked, and nothing is said of rates.
//
// Limits are those that p4c publishes with its Tofino backend (github.com/p4lang/p4c): in
// backends/tofino the memories of a stage (bf-p4c/mau/tofino), its estimate of resources
// (bf-p4c/mau) and the assembler's constants (bf-asm).
//
// How tables are laid out:
//   match by prefixes   so many blocks of TCAM wide that the key and 4 bits (version, valid) fit;
//                       in SRAM a word of 32 bits an entry for the bucket
//   exact match         words of 128 bits with as many entries as fit (key, value and 4 bits), four
//                       ways at least, filled to 80 %
//   register            cells in words of 128 bits, one spare block beside them, a map RAM a block;
//                       at most 23 blocks and the spare, which are half a stage; a register with
//                       more cells is cut into parts, each with a stateful unit of its own
//   stash               a packet can read a register once: each read has its own keys and values
//   CRC-8               a hash unit; it takes no memory
//
// Where they stand: a table is placed in the first stage behind those that it waits for which has
// room left; match tables go on in the next stage, registers go part by part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "targets/switch/switch_table.h"

namespace roost::targets {

// Tofino 1's; of memories, a stage's.
struct TofinoLimits {
  static constexpr uint64_t kStages = 12;
  static constexpr uint64_t kSramBlocks = 80;  // of 1024 words of 128 bits
  static constexpr uint64_t kSramWords = 1024;
  static constexpr uint64_t kSramWordBits = 128;
  static constexpr uint64_t kMapRams = 48;
  static constexpr uint64_t kTcamBlocks = 24;  // of 512 entries of 44 bits
  static constexpr uint64_t kTcamEntries = 512;
  static constexpr uint64_t kTcamBits = 44;
  static constexpr uint64_t kStatefulUnits = 4;
  static constexpr uint64_t kRegisterBlocks = 23;  // of one register, without its spare
};

// What of a table decides how much it takes.
struct SwitchSizes {
  uint64_t keys = 0;
  uint64_t prefixes = 0;
  uint64_t overflow = 0;
  uint64_t buckets = 0;
  uint64_t stashed_buckets = 0;  // with entries of the stash that packets get to
  uint32_t stash_reads = 0;
  uint32_t value_bits = 16;
  bool has_keys = false;

  static SwitchSizes of(const SwitchTable& table);
  // As a table of so many keys would have them, in proportion.
  [[nodiscard]] SwitchSizes scaled_to(uint64_t key_count) const;
};

// One table or register, and where it would stand.
struct TofinoPart {
  std::string name{};
  uint64_t entries = 0;
  uint64_t sram_blocks = 0;
  uint64_t tcam_blocks = 0;
  uint64_t stateful_units = 0;
  uint64_t first_stage = 0;
  uint64_t last_stage = 0;
};

struct TofinoReport {
  SwitchSizes sizes{};
  std::vector<TofinoPart> parts{};
  uint64_t stages = 0;  // that it would take, be they there or not
  uint64_t sram_blocks = 0;
  uint64_t tcam_blocks = 0;
  uint64_t keys_max = 0;  // of the largest table like this one that fits

  [[nodiscard]] bool fits() const { return stages <= TofinoLimits::kStages; }
  // For people: every line of figures under a head that says "analytic".
  [[nodiscard]] std::string text() const;
};

// Blocks of an exact-match table, and of a register without its spare.
[[nodiscard]] uint64_t exact_match_blocks(uint64_t entries, uint32_t value_bits);
[[nodiscard]] uint64_t register_blocks(uint64_t cells, uint32_t cell_bits);

[[nodiscard]] TofinoReport tofino_report(const SwitchSizes& sizes);

}  // namespace roost::targets

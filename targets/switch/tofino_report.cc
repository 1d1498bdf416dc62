#include "targets/switch/tofino_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "roost/base/assert.h"
#include "roost/compact/crc8.h"

namespace roost::targets {
namespace {

using Limits = TofinoLimits;

constexpr uint64_t kEntryOverheadBits = 4;  // version and valid
constexpr uint64_t kExactWays = 4;
constexpr uint64_t kExactFillPercent = 80;
constexpr uint64_t kBucketWordBits = 32;  // of an entry that leads to a bucket
// More keys have no room in all SRAM of all stages.
constexpr uint64_t kKeysLimit = uint64_t{1} << 26;
static_assert(kKeysLimit > Limits::kStages * Limits::kSramBlocks * Limits::kSramWords *
                               (Limits::kSramWordBits / 8));

constexpr uint64_t divided_up(uint64_t number, uint64_t by) { return (number + by - 1) / by; }

// What is left of each stage. There are as many stages as are asked for.
class Stages {
 public:
  struct Need {
    uint64_t sram = 0;
    uint64_t tcam = 0;
    uint64_t map_rams = 0;
    uint64_t stateful_units = 0;

    Need operator+(const Need& other) const {
      return {sram + other.sram, tcam + other.tcam, map_rams + other.map_rams,
              stateful_units + other.stateful_units};
    }
  };

  // The first stage from `from` on with room for all of it.
  uint64_t place(uint64_t from, const Need& need) {
    for (uint64_t stage = from;; ++stage) {
      Need& used = used_at(stage);
      const Need both = used + need;
      if (!fits(both)) continue;
      used = both;
      return stage;
    }
  }

 private:
  static bool fits(const Need& need) {
    return need.sram <= Limits::kSramBlocks && need.tcam <= Limits::kTcamBlocks &&
           need.map_rams <= Limits::kMapRams && need.stateful_units <= Limits::kStatefulUnits;
  }
  Need& used_at(uint64_t stage) {
    if (stage >= used_.size()) used_.resize(stage + 1);
    return used_[stage];
  }

  std::vector<Need> used_;
};

// Places a table's parts one behind the other, each behind what it waits for.
class Placement {
 public:
  // Match by prefixes: as many entries a stage as it has room for. Returns the stage behind it.
  uint64_t match_prefixes(std::string name, uint64_t from, uint64_t entries) {
    constexpr uint64_t kWidth = divided_up(kSwitchKeyBits + kEntryOverheadBits, Limits::kTcamBits);
    return spread(
        std::move(name), from, entries, divided_up(entries, Limits::kTcamEntries),
        Limits::kTcamBlocks / kWidth, [](uint64_t rows) {
          // The SRAM that says which bucket: 4 entries a word.
          const uint64_t words =
              divided_up(rows * Limits::kTcamEntries * kBucketWordBits, Limits::kSramWordBits);
          return Stages::Need{.sram = divided_up(words, Limits::kSramWords), .tcam = rows * kWidth};
        });
  }

  uint64_t match_exactly(std::string name, uint64_t from, uint64_t entries, uint32_t value_bits) {
    return spread(std::move(name), from, entries, exact_match_blocks(entries, value_bits),
                  Limits::kSramBlocks,
                  [](uint64_t blocks) { return Stages::Need{.sram = blocks}; });
  }

  uint64_t read_register(std::string name, uint64_t from, uint64_t cells, uint32_t cell_bits) {
    return spread(std::move(name), from, cells, register_blocks(cells, cell_bits),
                  Limits::kRegisterBlocks, [](uint64_t blocks) {
                    const uint64_t with_spare = blocks + 1;
                    return Stages::Need{
                        .sram = with_spare, .map_rams = with_spare, .stateful_units = 1};
                  });
  }

  // What takes a stage's time and no memory.
  uint64_t compute(std::string name, uint64_t from) {
    TofinoPart part = begin(std::move(name), 0, from);
    place(part, {});
    return end(std::move(part));
  }

  [[nodiscard]] std::vector<TofinoPart> parts() && { return std::move(parts_); }

 private:
  static constexpr uint64_t kNowhere = UINT64_MAX;

  // A part that takes several stages if one has not room for all: so many pieces, of which a stage
  // takes `pieces_max` at most, and need(pieces) of what it has for them.
  template <class NeedOf>
  uint64_t spread(std::string name, uint64_t from, uint64_t entries, uint64_t pieces,
                  uint64_t pieces_max, const NeedOf& need) {
    TofinoPart part = begin(std::move(name), entries, from);
    while (pieces > 0) {
      const uint64_t placed = std::min(pieces, pieces_max);
      place(part, need(placed));
      pieces -= placed;
    }
    return end(std::move(part));
  }
  static TofinoPart begin(std::string name, uint64_t entries, uint64_t from) {
    return {
        .name = std::move(name), .entries = entries, .first_stage = kNowhere, .last_stage = from};
  }
  void place(TofinoPart& part, const Stages::Need& need) {
    part.last_stage = stages_.place(part.last_stage, need);
    part.first_stage = std::min(part.first_stage, part.last_stage);
    part.sram_blocks += need.sram;
    part.tcam_blocks += need.tcam;
    part.stateful_units += need.stateful_units;
  }
  uint64_t end(TofinoPart part) {
    // A table without entries stands nowhere, and nothing waits for it.
    if (part.first_stage == kNowhere) return part.last_stage;
    const uint64_t behind = part.last_stage + 1;
    parts_.push_back(std::move(part));
    return behind;
  }

  Stages stages_;
  std::vector<TofinoPart> parts_;
};

constexpr uint32_t kSeedBits = 8;
constexpr uint32_t kIndexBits = 32;
constexpr uint32_t kKeyCellBits = 64;  // no register has cells of 48

constexpr uint32_t value_cell_bits(uint32_t value_bits) {
  return value_bits <= 8 ? 8 : value_bits <= 16 ? 16 : 32;
}

// In the order of the program's steps (switch_program.h).
std::vector<TofinoPart> placed_parts(const SwitchSizes& sizes) {
  Placement placement;
  const uint64_t slots = sizes.buckets * compact::kBucketSlots;
  const uint32_t value_bits = value_cell_bits(sizes.value_bits);
  uint64_t answered = placement.match_exactly("overflow", 0, sizes.overflow, sizes.value_bits);
  const uint64_t has_bucket = placement.match_prefixes("ranges", 0, sizes.prefixes);
  const uint64_t has_seed = placement.read_register("seeds", has_bucket, sizes.buckets, kSeedBits);
  if (sizes.stash_reads > 0 && sizes.stashed_buckets > 0) {
    const uint64_t has_entry =
        placement.read_register("stash_first", has_bucket, sizes.buckets, kIndexBits);
    for (uint32_t i = 1; i <= sizes.stash_reads; ++i) {
      answered = std::max({answered,
                           placement.read_register(fmt::format("stash_keys, read {}", i), has_entry,
                                                   sizes.stashed_buckets, kKeyCellBits),
                           placement.read_register(fmt::format("stash_values, read {}", i),
                                                   has_entry, sizes.stashed_buckets, value_bits)});
    }
  }
  const uint64_t is_seeded = placement.compute("key + seed", has_seed);
  const uint64_t is_hashed = placement.compute("CRC-8", is_seeded);
  const uint64_t has_slot = placement.compute("slot", is_hashed);
  answered = std::max(answered, placement.read_register("values", has_slot, slots, value_bits));
  if (sizes.has_keys) {
    answered =
        std::max(answered, placement.read_register("slot_keys", has_slot, slots, kKeyCellBits));
  }
  placement.compute("answer", answered);
  return std::move(placement).parts();
}

uint64_t stages_of(const std::vector<TofinoPart>& parts) {
  return std::ranges::max(parts, {}, &TofinoPart::last_stage).last_stage + 1;
}

uint64_t largest_that_fits(const SwitchSizes& sizes) {
  if (sizes.keys == 0) return 0;
  uint64_t fits = 0;
  uint64_t fails = kKeysLimit;
  while (fails - fits > 1) {
    const uint64_t middle = fits + (fails - fits) / 2;
    const bool is_small = stages_of(placed_parts(sizes.scaled_to(middle))) <= Limits::kStages;
    (is_small ? fits : fails) = middle;
  }
  return fits;
}

}  // namespace

uint64_t exact_match_blocks(uint64_t entries, uint32_t value_bits) {
  if (entries == 0) return 0;
  const uint64_t bits = kSwitchKeyBits + value_bits + kEntryOverheadBits;
  ROOST_ASSERT(bits <= Limits::kSramWordBits);
  const uint64_t places = divided_up(entries * 100, kExactFillPercent);
  const uint64_t words = divided_up(places, Limits::kSramWordBits / bits);
  return std::max(divided_up(words, Limits::kSramWords), kExactWays);
}

uint64_t register_blocks(uint64_t cells, uint32_t cell_bits) {
  return divided_up(divided_up(cells, Limits::kSramWordBits / cell_bits), Limits::kSramWords);
}

SwitchSizes SwitchSizes::of(const SwitchTable& table) {
  const auto first = table.cells(Register::kStashFirst);
  uint64_t keys = table.stashed + table.overflow.size();
  for (const uint64_t value : table.cells(Register::kValues))
    if (value != table.shape.absent()) ++keys;
  return {.keys = keys,
          .prefixes = table.ranges.size(),
          .overflow = table.overflow.size(),
          .buckets = table.bucket_count,
          .stashed_buckets =
              first.size() - static_cast<uint64_t>(std::ranges::count(first, uint64_t{0})),
          .stash_reads = table.stash_reads,
          .value_bits = table.shape.value_bits,
          .has_keys = table.shape.has_keys != 0};
}

SwitchSizes SwitchSizes::scaled_to(uint64_t key_count) const {
  ROOST_ASSERT(keys > 0);
  const auto scaled = [&](uint64_t number) {
    const auto product = static_cast<double>(number) * static_cast<double>(key_count);
    return static_cast<uint64_t>(product / static_cast<double>(keys) + 0.999);
  };
  SwitchSizes sizes = *this;
  sizes.keys = key_count;
  sizes.prefixes = scaled(prefixes);
  sizes.overflow = scaled(overflow);
  sizes.buckets = scaled(buckets);
  sizes.stashed_buckets = scaled(stashed_buckets);
  return sizes;
}

TofinoReport tofino_report(const SwitchSizes& sizes) {
  TofinoReport report{.sizes = sizes, .parts = placed_parts(sizes)};
  report.stages = stages_of(report.parts);
  for (const TofinoPart& part : report.parts) {
    report.sram_blocks += part.sram_blocks;
    report.tcam_blocks += part.tcam_blocks;
  }
  report.keys_max = largest_that_fits(sizes);
  return report;
}

std::string TofinoReport::text() const {
  std::string out = fmt::format(
      "Tofino 1, analytic: arithmetic from published limits. No compiler and no switch was asked, "
      "and nothing is said of rates.\n\n"
      "{} keys: {} prefixes, {} buckets, {} of them with a stash, {} keys in overflow\n\n"
      "{:<24}{:>10}{:>8}{:>8}{:>10}  stages\n",
      sizes.keys, sizes.prefixes, sizes.buckets, sizes.stashed_buckets, sizes.overflow, "part",
      "entries", "SRAM", "TCAM", "stateful");
  for (const TofinoPart& part : parts) {
    out += fmt::format("{:<24}{:>10}{:>8}{:>8}{:>10}  {}\n", part.name, part.entries,
                       part.sram_blocks, part.tcam_blocks, part.stateful_units,
                       part.first_stage == part.last_stage
                           ? fmt::format("{}", part.first_stage + 1)
                           : fmt::format("{}-{}", part.first_stage + 1, part.last_stage + 1));
  }
  out += fmt::format(
      "\nSRAM: {} of {} blocks. TCAM: {} of {} blocks. Stages: {} of {}. {}\n"
      "The largest table of such keys that fits: {} keys.\n",
      sram_blocks, TofinoLimits::kSramBlocks * TofinoLimits::kStages, tcam_blocks,
      TofinoLimits::kTcamBlocks * TofinoLimits::kStages, stages, TofinoLimits::kStages,
      fits() ? "It fits." : "It does not fit.", keys_max);
  return out;
}

}  // namespace roost::targets

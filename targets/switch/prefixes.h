// Prefixes: the numbers that begin with the same bits, as a match table's entry with a mask has
// them; and ranges as prefixes, of which the longest wins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roost::targets {

// As many bits as a key has in a switch: those of an Ethernet address.
inline constexpr unsigned kSwitchKeyBits = 48;
inline constexpr uint64_t kSwitchKeyMask = (uint64_t{1} << kSwitchKeyBits) - 1;

// 2^free_bits numbers, `first` and those behind it; `first` is a multiple of that.
struct Prefix {
  uint64_t first = 0;
  unsigned free_bits = 0;

  [[nodiscard]] constexpr uint64_t mask() const {
    return kSwitchKeyMask & ~((uint64_t{1} << free_bits) - 1);
  }
  [[nodiscard]] constexpr unsigned length() const { return kSwitchKeyBits - free_bits; }
  [[nodiscard]] constexpr bool has(uint64_t number) const { return (number & mask()) == first; }

  bool operator==(const Prefix&) const = default;
};

// The numbers from `first` to the next range's lead to a bucket, or all that are left.
struct Range {
  uint64_t first = 0;
  uint32_t bucket = 0;
};
// A prefix whose numbers lead to a bucket, where no longer prefix has them.
struct RangeEntry {
  Prefix prefix{};
  uint32_t bucket = 0;

  bool operator==(const RangeEntry&) const = default;
};

// The fewest entries that lead all numbers where the ranges do. These begin with 0 and rise; each
// has another bucket. Shorter prefixes come before those that they have inside. Time linear in the
// entries, times the bits of a key; memory 16 bytes a range and bit that differs.
//
// By the tree of halves of all numbers, as Draves, King, Venkatachary and Zill's "Constructing
// optimal IP routing tables" (INFOCOM 1999): from below, the buckets that a half should get from
// outside are those that both of its halves should get, if there are such, else those of either;
// from above, a half has an entry of its own if what it gets is none of them. As buckets rise, both
// halves can have only that one in common that lies across their border, so a half need only know
// of its first bucket and of its last one whether they are such.
[[nodiscard]] std::vector<RangeEntry> longest_prefixes(std::span<const Range> ranges);

}  // namespace roost::targets

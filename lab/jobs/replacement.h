// Entries that are replaced, one after another: each has a place in a generation, and when it
// leaves, the entry of the same place in another generation arrives.
//
// Places take their turns by a stride that has no divisor in common with their number, so that
// each comes once and neighbours, which arrived together, do not leave together. When all places
// had their turn, the table holds the other generation and nothing else: its keys are known
// without a list of them.
#pragma once

#include <cstdint>

#include "lab/harness/any_table.h"
#include "roost/traffic/key_source.h"

namespace roost::lab {

// The index of the key at the first place of a generation; what a table was filled with is
// generation 0.
[[nodiscard]] constexpr uint64_t first_key_of(uint64_t generation) { return generation << 40; }

struct Replacement {
  uint64_t place_count;  // entries of a generation
  uint64_t step_count;   // how many of them are replaced, at most all
  uint64_t leaving;      // generations
  uint64_t arriving;
};

// The time is that of erasures and insertions alone. It ends at the first that fails, which what
// was stored shows.
AnyTable::Inserted replace_entries(AnyTable& table, const traffic::KeySource& keys,
                                   const Replacement& replacement);

}  // namespace roost::lab

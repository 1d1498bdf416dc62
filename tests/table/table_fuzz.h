// The configurations of the table's fuzz target; they are in two sources, which compile side by
// side.
#pragma once

#include <cstdint>
#include <span>

#include "tests/table/fuzz_run.h"
#include "tests/table/mirrored_flow_table.h"

namespace roost {

using FuzzConfiguration = void (*)(FuzzBytes);

// What the library has, and what only papers compare.
std::span<const FuzzConfiguration> fuzzed_tables();
std::span<const FuzzConfiguration> fuzzed_variants();

template <class MirrorType, uint64_t kCapacity, uint64_t kKeyUniverse, uint64_t kHashSeed = 7>
void run(FuzzBytes bytes) {
  fuzz_run(MirrorType::make(kCapacity, kKeyUniverse, isa_best(), kHashSeed), bytes);
}

template <class Probing, class Expiry = SlotTimers>
using Small = MirrorOf<Key16, Value<16>, Expiry, Probing>;
template <class Probing, class Expiry = SlotTimers>
using Wide = MirrorOf<Key40, Value<8>, Expiry, Probing>;

}  // namespace roost

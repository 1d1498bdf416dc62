// The sets that kernels and lines answer with, in words; what the table does with the answers is
// said in terms of these.
#pragma once

#include <cstdint>

#include "roost/base/index_mask.h"

namespace roost {

// Slots of a bucket, lanes of a group, bits of a line's filter.
using SlotMask = IndexMask<uint32_t, struct SlotKind>;
using LaneMask = IndexMask<uint32_t, struct LaneKind>;
using FilterMask = IndexMask<uint64_t, struct FilterKind>;

static_assert(sizeof(SlotMask) == sizeof(uint32_t), "a mask is passed in a register");

}  // namespace roost

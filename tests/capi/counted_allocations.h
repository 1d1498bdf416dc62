// A program whose every allocation by new is counted, and may be made to fail.
#pragma once

#include <cstdint>

namespace roost {

extern uint64_t allocation_count;
// Allocations left until one fails; unlimited when negative.
extern int64_t allocations_left;

}  // namespace roost

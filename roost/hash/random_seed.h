// A seed that cannot be guessed, from the operating system.
#pragma once

#include <cstdint>

namespace roost {

// Thread-safe; costs a system call, so it belongs to creation, not to the datapath.
[[nodiscard]] uint64_t random_seed();

}  // namespace roost

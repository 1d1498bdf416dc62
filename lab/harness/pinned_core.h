// Keeps the measuring thread on one core.
#pragma once

#include <cstddef>
#include <vector>

#include "roost/base/result.h"

namespace roost::lab {

// The last core this process may run on; the first ones serve most interrupts.
[[nodiscard]] Result<int> last_allowed_core();

// `asked`, or the last allowed one if that is negative, and those before it.
[[nodiscard]] Result<std::vector<int>> measuring_cores(int asked, size_t count);

// Binds the calling thread to `core` and returns the core it then runs on, as read back.
[[nodiscard]] Result<int> pin_to_core(int core);

}  // namespace roost::lab

// An image of a value-only table, copied from a file.
#pragma once

#include <string>

#include "capi/map.h"
#include "capi/map_class.h"
#include "roost/memory/arena.h"

namespace roost::capi {

// Reads the whole file. Failures: it cannot be read, or there is no memory for it.
[[nodiscard]] Failed read_image(const std::string& path, const ArenaOptions& options,
                                ImageBytes& image);

}  // namespace roost::capi

// An image in parts, for data planes that lay them out otherwise.
#pragma once

#include <optional>
#include <string>

#include "apps/map/image.h"
#include "roost/base/result.h"

namespace roost::map {

// Writes a new folder: `layout.json`, and the bytes of each part in a file of its own. Errors: the
// folder is there already, or cannot be written; then there is none of it.
[[nodiscard]] std::optional<Error> export_parts(const Image& image, const std::string& folder);

}  // namespace roost::map

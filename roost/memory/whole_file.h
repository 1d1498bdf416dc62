// Files as a whole: read, or written so that what was there before stays until all is there.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "roost/base/result.h"

namespace roost {

// Errors: it is not there, no file, or cannot be read.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

// Writes a file beside the place, and moves it there when all of it is on the disk. Errors: it
// cannot be written; then what was there is there still.
[[nodiscard]] std::optional<Error> write_whole(const std::string& path,
                                               std::span<const std::byte> bytes);

}  // namespace roost

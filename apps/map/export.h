// An image as files for other data planes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/map/image.h"
#include "roost/base/result.h"
#include "targets/switch/switch_export.h"

namespace roost::map {

enum class ExportFormat : uint8_t {
  kParts,  // `layout.json`, and the bytes of each part in a file of its own
  kSwx,    // the other three are of Parrot tables only; see targets/switch/switch_export.h
  kP4,
  kReport,
};

// Writes a new folder. Errors: the folder is there already, or cannot be written; the format has no
// such tables. Then there is none of it.
[[nodiscard]] std::optional<Error> export_image(const Image& image, const std::string& folder,
                                                ExportFormat format = ExportFormat::kParts,
                                                const targets::ExportOptions& options = {});

}  // namespace roost::map

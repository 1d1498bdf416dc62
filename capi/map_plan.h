// What a roost_map_config or a roost_map_image asks for, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "capi/roost_map.h"
#include "roost/base/result.h"
#include "roost/compact/image_head.h"
#include "roost/compact/line_map_levels.h"
#include "roost/compact/parrot_plan.h"
#include "roost/memory/arena.h"

namespace roost::capi {

// How the caller's bytes are a key.
struct MapKeyForm {
  compact::ImageKind kind;
  size_t key_bytes;
  bool is_big_endian;

  bool operator==(const MapKeyForm&) const = default;
};

struct MapPlan {
  MapKeyForm key_form;
  compact::LineMapConfig line;  // of a line map
  compact::ParrotConfig parrot;

  [[nodiscard]] uint32_t value_bits() const {
    return key_form.kind == compact::ImageKind::kParrot ? parrot.value_bits : line.value_bits;
  }
};

struct ImagePlan {
  std::string path;  // or none
  std::span<const std::byte> memory;
  size_t key_bytes;
  bool is_big_endian;
  bool audits;
  ArenaOptions copy;
};

// Reads a caller's structs, of whatever size. Errors are sentences that name the field.
[[nodiscard]] Result<MapPlan> plan_of(const roost_map_config& config);
[[nodiscard]] Result<ImagePlan> plan_of(const roost_map_image& image);

}  // namespace roost::capi

// The kinds of maps and their padded key sizes, and how each is created. A line map has all
// multiples of eight bytes, as in C++: an image is for keys of one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "capi/map.h"
#include "capi/map_plan.h"
#include "roost/memory/arena.h"

namespace roost::capi {

// An image, and its memory unless that is lent.
struct ImageBytes {
  std::span<const std::byte> bytes;
  std::optional<Arena> own{};
};

struct MapClass {
  // Builds a map of keys and values.
  Failed (*create)(const MapPlan& plan, const roost_keys& keys, const uint32_t* values,
                   std::unique_ptr<roost_map>& map);
  // Opens an image that nobody changes.
  Failed (*open)(const ImagePlan& plan, ImageBytes image,
                 std::unique_ptr<roost_map_reader>& reader);
};

// One source file each instantiates these (sized_map.h), so that they compile side by side.
template <size_t kPaddedBytes>
[[nodiscard]] MapClass line_map_class();
[[nodiscard]] MapClass parrot_class();

[[nodiscard]] MapClass map_class_of(compact::ImageKind kind, size_t key_bytes);

}  // namespace roost::capi

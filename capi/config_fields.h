// Fields of configurations, read as callers of any version set them, and what is said of wrong
// ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "capi/sized_struct.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::capi {

// Says what is wrong with a field of a struct: "roost_config: size is 3; ...".
[[nodiscard]] Error refusal(std::string_view type, std::string_view field, const std::string& why);

[[nodiscard]] Result<std::optional<PageKind>> pages_of(std::string_view type, uint32_t pages);
// -1 is any node.
[[nodiscard]] Result<std::optional<unsigned>> numa_node_of(std::string_view type, int32_t node);

// Zero everywhere, but for numa_node.
template <class Struct>
[[nodiscard]] constexpr Struct default_fields() {
  Struct defaults{};
  defaults.numa_node = -1;
  return defaults;
}

// What `type`_init() does with a caller's struct of any version.
template <class Struct>
void set_defaults(Struct* config, size_t size) {
  const auto defaults = default_fields<Struct>();
  std::memset(static_cast<void*>(config), 0, size);
  std::memcpy(config, &defaults, std::min(size, sizeof(defaults)));
  config->size = size;
}

// The caller's fields over the defaults; an error when the caller, which is newer, asks for
// something that this library does not have.
template <class Struct>
[[nodiscard]] Result<Struct> known_fields(std::string_view type, const Struct& theirs) {
  const std::string name(type);
  auto fields = default_fields<Struct>();
  if (!is_struct_size(theirs.size)) {
    return refusal(type, "size",
                   "is " + std::to_string(theirs.size) + "; let " + name +
                       "_init() set it to sizeof(" + name + ")");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&theirs);
  const auto is_zero = [](unsigned char byte) { return byte == 0; };
  const size_t known_bytes = std::min(theirs.size, sizeof(fields));
  if (!std::all_of(bytes + known_bytes, bytes + theirs.size, is_zero)) {
    return Error{name +
                 ": a field is set that this version of the library does not have; leave it zero, "
                 "or use the library of the header that the program was compiled with"};
  }
  std::memcpy(&fields, bytes, known_bytes);
  if (!std::all_of(std::begin(fields.reserved), std::end(fields.reserved), is_zero))
    return refusal(type, "reserved", "is not zero; begin with " + name + "_init()");
  return fields;
}

}  // namespace roost::capi

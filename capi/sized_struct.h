// Structs that begin with `size`, the caller's sizeof: how they come in and go out when the caller
// was compiled against another version of the header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace roost::capi {

// Whether `size` can be that of any version of a struct.
[[nodiscard]] constexpr bool is_struct_size(size_t size) { return size >= sizeof(size_t); }

// Copies what the caller's struct has room for; what lies beyond this library's becomes zero, and
// `size` the number of bytes filled. The caller's `size` must be one.
template <class Struct>
void fill(Struct* to, Struct from) {
  const size_t theirs = to->size;
  from.size = std::min(theirs, sizeof(Struct));
  std::memcpy(to, &from, from.size);
  std::memset(reinterpret_cast<unsigned char*>(to) + from.size, 0, theirs - from.size);
}

}  // namespace roost::capi

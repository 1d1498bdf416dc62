// Texts that go into a caller's buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "capi/roost_types.h"

namespace roost::capi {

// Copies as much of a text as there is room for, closed by a zero.
inline void write_text(std::string_view text, char* to, size_t to_bytes) {
  if (to == nullptr || to_bytes == 0) return;
  const size_t length = std::min(text.size(), to_bytes - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// Where a failed call says why.
struct ErrorText {
  char* to;
  size_t to_bytes;

  roost_status operator()(roost_status status, std::string_view text) const {
    write_text(text, to, to_bytes);
    return status;
  }
};

}  // namespace roost::capi

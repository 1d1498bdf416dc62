// A function that keeps nothing of what it forwards, as a bench holds one (packet_runner.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "roost/base/result.h"

namespace roost::lab {

template <class RawFunction>
class RawHolder {
 public:
  using Function = RawFunction;

  // `table_bytes`: of what it reads, which somebody else owns.
  explicit RawHolder(RawFunction function = RawFunction(), uint64_t table_bytes = 0)
      : function_(std::move(function)), table_bytes_(table_bytes) {}

  [[nodiscard]] Function& function() { return function_; }
  [[nodiscard]] std::optional<Error> wrong() const {
    if constexpr (requires { function_.key_sum(); }) {
      if (function_.key_sum() == 0) return Error{"no keys were made"};
    }
    return {};
  }
  [[nodiscard]] uint64_t memory_bytes() const { return table_bytes_; }

 private:
  Function function_;
  uint64_t table_bytes_;
};

}  // namespace roost::lab

// A function that only moves packets, as a bench holds one (packet_runner.h); it knows no flows.
#pragma once

#include <cstdint>
#include <optional>

#include "roost/base/result.h"

namespace roost::lab {

template <class RawFunction>
class RawHolder {
 public:
  using Function = RawFunction;

  [[nodiscard]] Function& function() { return function_; }
  [[nodiscard]] std::optional<Error> wrong() const {
    if constexpr (requires { function_.key_sum(); }) {
      if (function_.key_sum() == 0) return Error{"no keys were made"};
    }
    return {};
  }
  [[nodiscard]] uint64_t memory_bytes() const { return 0; }

 private:
  Function function_;
};

}  // namespace roost::lab

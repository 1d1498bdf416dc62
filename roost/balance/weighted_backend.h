// A backend as the algorithms of this room know it: a name and a weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"

namespace roost::balance {

struct WeightedBackend {
  std::string name{};  // unique
  uint32_t weight = 1;
};

// Indices of backends have 16 bits, and one of them is nobody's.
inline constexpr size_t kBackendCountMax = 65'535;
inline constexpr uint16_t kNoBackend = 0xffff;
static_assert(kBackendCountMax <= kNoBackend, "an index is never kNoBackend");

// Why no algorithm takes this list: names that are not unique, or more than kBackendCountMax.
[[nodiscard]] std::optional<Error> refuse_backends(std::span<const WeightedBackend> backends);

// The indices of the backends that have a weight, in order of their names: who goes through them
// does the same whatever the order of the list.
[[nodiscard]] std::vector<uint16_t> weighted_by_name(std::span<const WeightedBackend> backends);

// For each backend of `before`, the index in `after` of the one with its name, or kNoBackend.
[[nodiscard]] std::vector<uint16_t> indices_by_name(std::span<const WeightedBackend> before,
                                                    std::span<const WeightedBackend> after);

}  // namespace roost::balance

// Makes models of sorted keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "roost/compact/monotone_model.h"

namespace roost::compact {

// Which model: an RMI of so many lines, or a spline off by so many buckets at most.
struct ModelChoice {
  ModelKind kind = ModelKind::kRmi;
  uint32_t size = 0;  // at least 1

  // "RMI of 128 lines", "spline within 1 bucket".
  [[nodiscard]] std::string format() const;
};

struct BuiltModel {
  ModelHead head{};
  std::vector<ModelLine> lines{};
  std::vector<uint32_t> prefixes{};

  [[nodiscard]] MonotoneModel view() const { return {head, lines.data(), prefixes.data()}; }
};

// Of keys that rise, at least one and below 2^32 of them, over 1 to 2^32 - 1 buckets. Time linear
// in the keys, memory in the lines.
[[nodiscard]] BuiltModel build_model(const ModelChoice& choice, std::span<const uint64_t> keys,
                                     uint64_t bucket_count);

}  // namespace roost::compact

// Makes models of sorted keys.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "roost/compact/monotone_model.h"

namespace roost::compact {

// Which model: an RMI of so many lines, a spline off by so many buckets at most, or steps of so
// many keys.
struct ModelChoice {
  ModelKind kind = ModelKind::kRmi;
  uint32_t size = 0;  // at least 1

  // "RMI of 128 lines", "spline within 1 bucket", "steps of 4 keys".
  [[nodiscard]] std::string format() const;
};

struct BuiltModel {
  ModelHead head{};
  std::vector<ModelLine> lines{};
  std::vector<uint32_t> prefixes{};

  [[nodiscard]] MonotoneModel view() const { return {head, lines.data(), prefixes.data()}; }
  // All that it leads to are below.
  [[nodiscard]] uint64_t bucket_count() const { return (lines.back().place >> kFractionBits) + 1; }
};

// Of keys that rise, at least one and below 2^32 of them, over 1 to 2^32 - 1 buckets. Time linear
// in the keys, memory in the lines. Steps make as many buckets as they need.
[[nodiscard]] BuiltModel build_model(const ModelChoice& choice, std::span<const uint64_t> keys,
                                     uint64_t bucket_count);

// Where a bucket begins whose first key is `key`, and the last one before it `before`: of the
// numbers in between, and the key itself, the one that most zeros trail. It has the bits that both
// keys begin with, and of the others only the first one. No block of 2^n numbers from a multiple of
// 2^n on has it inside but such as have both keys. So wherever else the bucket began, prefixes of
// its numbers would end here too: none need fewer.
[[nodiscard]] constexpr uint64_t cut_between(uint64_t before, uint64_t key) {
  const auto differing = static_cast<unsigned>(std::bit_width(before ^ key)) - 1;
  return key >> differing << differing;
}
// Steps that lead the keys to the same buckets as a model does, without those that have no key.
[[nodiscard]] BuiltModel steps_of(const MonotoneModel& model, std::span<const uint64_t> keys);

}  // namespace roost::compact

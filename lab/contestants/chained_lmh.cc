#include "lab/contestants/chained_lmh.h"

#include <fmt/format.h>

namespace roost::lab {

Result<ChainPlan> ChainPlan::make(std::span<const uint64_t> words, double load,
                                  size_t entry_bytes) {
  ChainPlan best;
  uint64_t best_bytes = UINT64_MAX;
  const auto bucket_count = static_cast<uint64_t>(static_cast<double>(words.size()) / load) + 1;
  if (2 * bucket_count >= UINT32_MAX) return Error{"links of 32 bits do not number so many keys"};
  for (const uint32_t lines : kLinesTried) {
    if (lines > bucket_count && best_bytes != UINT64_MAX) break;
    ChainPlan plan{
        .model = compact::build_model({compact::ModelKind::kRmi, lines}, words, bucket_count),
        .bucket_count = bucket_count};
    compact::for_each_bucket(plan.model.view(), words, [&](uint64_t, size_t, size_t count) {
      plan.chained += count - 1;
      const auto keys = static_cast<double>(count);
      plan.steps += keys * (keys + 1) / 2;
    });
    plan.steps /= static_cast<double>(words.size());
    const uint64_t bytes =
        plan.chained * entry_bytes + compact::MonotoneModel::bytes_of(plan.model.head);
    if (bytes >= best_bytes) continue;
    best_bytes = bytes;
    best = std::move(plan);
  }
  if (best.steps > kStepsMax) {
    return Error{fmt::format("no RMI fits the keys: a lookup would walk {:.0f} entries on average",
                             best.steps)};
  }
  return best;
}

}  // namespace roost::lab

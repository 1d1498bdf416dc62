#include "roost/balance/weighted_backend.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace roost::balance {

std::optional<Error> refuse_backends(std::span<const WeightedBackend> backends) {
  if (backends.size() > kBackendCountMax) {
    return Error{std::to_string(backends.size()) + " backends in one service; use at most " +
                 std::to_string(kBackendCountMax)};
  }
  std::vector<std::string_view> names;
  for (const WeightedBackend& backend : backends) names.push_back(backend.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return std::nullopt;
  return Error{"two backends are named \"" + std::string(*twice) + "\"; give each its own name"};
}

std::vector<uint16_t> weighted_by_name(std::span<const WeightedBackend> backends) {
  std::vector<uint16_t> indices;
  for (size_t i = 0; i < backends.size(); ++i) {
    if (backends[i].weight != 0) indices.push_back(static_cast<uint16_t>(i));
  }
  std::ranges::sort(indices, {}, [&](uint16_t i) { return backends[i].name; });
  return indices;
}

std::vector<uint16_t> indices_by_name(std::span<const WeightedBackend> before,
                                      std::span<const WeightedBackend> after) {
  std::unordered_map<std::string_view, uint16_t> index_of;
  for (size_t i = 0; i < after.size(); ++i) {
    index_of.emplace(after[i].name, static_cast<uint16_t>(i));
  }
  std::vector<uint16_t> indices;
  for (const WeightedBackend& backend : before) {
    const auto found = index_of.find(backend.name);
    indices.push_back(found == index_of.end() ? kNoBackend : found->second);
  }
  return indices;
}

}  // namespace roost::balance

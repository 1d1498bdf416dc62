// What the tests of balancing share: lists of backends, and where many flows go.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/balance/name_hash.h"
#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

inline std::vector<WeightedBackend> equal_backends(size_t count, uint32_t weight = 1) {
  std::vector<WeightedBackend> backends;
  for (size_t i = 0; i < count; ++i) backends.push_back({"backend-" + std::to_string(i), weight});
  return backends;
}

inline std::vector<WeightedBackend> without(std::vector<WeightedBackend> backends, size_t index) {
  backends.erase(backends.begin() + static_cast<ptrdiff_t>(index));
  return backends;
}

// The hash of the n-th flow.
inline uint64_t flow_hash(uint64_t number) { return splitmix64_next(number); }

template <class T>
T made(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message;
  return std::move(result).value();
}

template <class A>
A make(std::span<const WeightedBackend> backends, uint64_t seed = 1) {
  return made(A::create({.backends = backends, .seed = seed}));
}

// The names of the backends of so many flows; of no backend "nobody".
template <class A>
std::vector<std::string> picked_names(const A& algorithm, std::span<const WeightedBackend> backends,
                                      size_t flow_count = 20'000) {
  std::vector<std::string> names;
  for (size_t flow = 0; flow < flow_count; ++flow) {
    const std::optional<size_t> picked = algorithm.pick(flow_hash(flow));
    names.push_back(picked ? backends[*picked].name : "nobody");
  }
  return names;
}

// How many flows moved from each backend to each other one.
using Moves = std::map<std::pair<std::string, std::string>, size_t>;

inline Moves moves_between(std::span<const std::string> before,
                           std::span<const std::string> after) {
  Moves moves;
  for (size_t flow = 0; flow < before.size(); ++flow) {
    if (before[flow] != after[flow]) ++moves[{before[flow], after[flow]}];
  }
  return moves;
}

}  // namespace roost::balance

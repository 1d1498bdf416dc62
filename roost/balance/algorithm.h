// What a consistent hash offers, so that a program can exchange one for another: a choice for each
// flow, and what becomes of it when the backends change.
//
//   create(config)     from backends, a seed, and what else the algorithm asks for
//   pick(flow_hash)    the index, in the list last given, of the backend for a flow; nothing if no
//                      backend has a weight. Same hash, same backend.
//   next(backends)     the same algorithm with these backends instead. Names say who is who.
//   memory_bytes()     what picking reads
//   kKeepsHistory      whether picks depend on the lists before the last one. Two instances then
//                      agree only if they have seen the same changes in the same order, and one
//                      that starts anew does not agree with what it was.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

template <class A>
concept Algorithm = requires(const A& algorithm, const typename A::Config& config,
                             uint64_t flow_hash, std::span<const WeightedBackend> backends) {
  { A::create(config) } -> std::same_as<Result<A>>;
  { algorithm.pick(flow_hash) } -> std::same_as<std::optional<size_t>>;
  { algorithm.next(backends) } -> std::same_as<Result<A>>;
  { algorithm.memory_bytes() } -> std::same_as<uint64_t>;
  { A::kKeepsHistory } -> std::convertible_to<bool>;
  { config.backends } -> std::convertible_to<std::span<const WeightedBackend>>;
  { config.seed } -> std::convertible_to<uint64_t>;
};

}  // namespace roost::balance

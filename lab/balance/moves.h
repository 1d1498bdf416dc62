// Which flows change backends when the list does, counted on many hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/balance/chooser.h"
#include "lab/balance/scenario.h"

namespace roost::lab {

// Where so many flows go, by numbers of backends.
[[nodiscard]] std::vector<size_t> places_of(const Chooser& chooser,
                                            std::span<const uint64_t> flow_hashes,
                                            const Backends& backends);

// The greatest share of the flows for a backend's weight, over the mean.
[[nodiscard]] double max_over_mean(std::span<const size_t> places, const Backends& backends);

struct Moved {
  double all = 0;         // shares of the flows
  double least = 0;       // by the weights alone
  double needlessly = 0;  // from a backend that has not lost to one that has not gained weight
};

// `weights` are those of before, by number.
[[nodiscard]] Moved count_moves(std::span<const size_t> before, std::span<const size_t> after,
                                std::span<const uint32_t> weights, const Backends& backends);

// The weights of all backends by number; of those not in the list 0.
[[nodiscard]] std::vector<uint32_t> weights_of(const Backends& backends);

}  // namespace roost::lab

// Least connections: a new connection goes to the backend that has the fewest live ones for its
// weight.
//
// Of backends i with c_i live connections and weight w_i, the one with the least (c_i + 1) / w_i is
// taken: what it would have with one more. Ties go by a draw of the flow and the backend's name, so
// that the first of a list is not everybody's first.
//
// This is no hash. The answer depends on the counts, so a connection's later packets need a
// connection table, and two instances, or one before and after a restart, do not choose alike.
//
// Several workers count their own connections only and choose by those: they share nothing, and the
// sums over W of them agree all the same. Let C_i be the sum of backend i.
//   I1 While connections only begin: C_i / w_i <= (C_j + W) / w_j for all i and j that have weight,
//      however connections are spread over workers. With equal weights the greatest and the least
//      sum differ by W at most.
//   I2 When they also end: C_i / w_i <= (C_j + W + E_ij) / w_j, where E_ij are the connections of j
//      that have ended, on each worker, since that worker last chose i.
// For one worker, when it last chose i, (c_i + 1) / w_i <= (c_j + 1) / w_j held before; since then
// i's count has not grown beyond that, and j's has lost e_ij at most: c_i / w_i <=
// (c_j + 1 + e_ij) / w_j. Sums over workers give both.
//
// A backend that comes has no connections, and gets all new ones until it has as many as others.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/balance/flow_draw.h"
#include "roost/balance/weighted_backend.h"
#include "roost/base/assert.h"
#include "roost/base/result.h"

namespace roost::balance {

// Immutable once made: any number of threads may pick, each by its own counts.
class LeastConnections {
 public:
  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
  };

  // Refuses what refuse_backends does.
  static Result<LeastConnections> create(const Config& config);

  // The index, in the list given to create(), of the backend for a new connection; nothing if none
  // has a weight. `live(i)` is how many connections the i-th of the list has, less than 2^32.
  // O(backends).
  template <std::invocable<size_t> Live>
  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash, const Live& live) const {
    const Candidate* best = nullptr;
    uint64_t best_count = 0;
    for (const Candidate& candidate : candidates_) {
      const uint64_t count = uint64_t{live(candidate.index)} + 1;
      ROOST_DEBUG_ASSERT(count >> 32 == 0 || count == uint64_t{1} << 32);
      if (best != nullptr) {
        const uint64_t mine = count * best->weight;
        const uint64_t least = best_count * candidate.weight;
        if (mine > least) continue;
        if (mine == least &&
            flow_draw(flow_hash, candidate.salt) <= flow_draw(flow_hash, best->salt)) {
          continue;
        }
      }
      best = &candidate;
      best_count = count;
    }
    if (best == nullptr) return std::nullopt;
    return best->index;
  }

  [[nodiscard]] Result<LeastConnections> next(std::span<const WeightedBackend> backends) const {
    return create({backends, seed_});
  }

  // Without the counts, which are the caller's.
  [[nodiscard]] uint64_t memory_bytes() const { return candidates_.size() * sizeof(Candidate); }

 private:
  struct Candidate {
    uint64_t salt;  // its name under the seed
    uint32_t weight;
    uint16_t index;  // in the caller's list
  };

  explicit LeastConnections(uint64_t seed) : seed_(seed) {}

  uint64_t seed_;
  std::vector<Candidate> candidates_;  // those with a weight, in order of their names
};

}  // namespace roost::balance

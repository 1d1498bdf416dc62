// Maglev hashing with weights (Eisenbud et al., "Maglev: A fast and reliable software network load
// balancer", NSDI 2016, section 3.4): a table of backends in which each backend owns entries in
// proportion to its weight, and few entries change owner when a backend comes or goes.
//
// The idea. Each backend has a preference list of all entries: (offset + j * skip) mod entry count,
// where offset and skip come from its name and the entry count is prime, so that the list names
// every entry once. Backends take turns; in its turn, a backend takes the first entry of its list
// that is free. With weights, a round gives a turn to the heaviest backend, and to another one as
// soon as its weight, summed over the rounds, has paid for it.
//
// The entry count is the smallest prime that is at least
//   - Config::entry_count_min, and
//   - 100 * 2^k, the first such that 2^k is at least the number of backends and at least
//     (sum of weights) / (smallest weight other than 0).
// So n backends have at least 100 * n entries and the lightest of them 100. Steps of two, and a
// large minimum, because a table of another size is another table: nearly every flow would change
// its backend. The size depends on weights and count of backends only, so draining a backend by
// weight 0 never shrinks the table below 100 * n.
//
// I1 Names, weights, seed and entry_count_min determine the name of every entry's owner; the order
//    in which backends are given does not.
// I2 A backend's share of the entries is within 2 % of its share of the weights, relative to the
//    latter. Take M entries, n backends, a backend's weight w, the sum W and the largest w_max of
//    all weights, and T rounds, the last of which may be partial. The backend has at most
//    T * w / w_max entries, and more than (T - 1) * w / w_max - 1. The rounds before the last did
//    not fill the table, so (T - 1) * W / w_max < M + n; all of them do, so T * W / w_max >= M.
//    Hence the share is too large by less than n / M + W / (w_max * M), or too small by less than
//    W / (w_max * M) + W / (w * M), relative to w / W. Each of these terms is at most 1/100.
// I3 A backend of weight 0 owns no entry: its flows may go on, new ones never reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

// Immutable once made: any number of threads may pick.
class Maglev {
 public:
  // The table size of the Maglev paper's small setting: 128 KiB, and constant up to 512 equal
  // backends.
  static constexpr uint64_t kEntryCountMinDefault = 65'537;
  static constexpr uint64_t kEntryCountMax = uint64_t{1} << 25;
  static constexpr size_t kBackendCountMax = balance::kBackendCountMax;
  static constexpr bool kKeepsHistory = false;

  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
    uint64_t entry_count_min = kEntryCountMinDefault;
  };

  // Refuses names that are not unique, more than kBackendCountMax backends, and a table of more
  // than kEntryCountMax entries (weights too far apart). No backends, or none with a weight, is not
  // an error. Time: about the entry count times the logarithms of it and of the number of backends.
  static Result<Maglev> create(const Config& config);

  // The index, in the list given to create(), of the backend for a flow. Nothing if no backend has
  // a weight. The hash must be evenly spread and the same on every instance.
  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const {
    if (owners_.empty()) return std::nullopt;
    return owners_[flow_hash % owners_.size()];
  }

  // A prime, or 0 if no backend has a weight. pick(0) ... pick(entry_count() - 1) enumerate the
  // table.
  [[nodiscard]] size_t entry_count() const { return owners_.size(); }

  // The table of other backends, with this one's seed and least size.
  [[nodiscard]] Result<Maglev> next(std::span<const WeightedBackend> backends) const {
    return create({backends, seed_, entry_count_min_});
  }

  [[nodiscard]] uint64_t memory_bytes() const { return owners_.size() * sizeof(owners_[0]); }

 private:
  Maglev(const Config& config, std::vector<uint16_t> owners)
      : seed_(config.seed), entry_count_min_(config.entry_count_min), owners_(std::move(owners)) {}

  uint64_t seed_;
  uint64_t entry_count_min_;
  std::vector<uint16_t> owners_;
};

}  // namespace roost::balance

// The algorithms of roost/balance behind one face, so that a job takes any of them by its name.
//
// Calls are virtual where events are simulated, and not inside of what is timed: pick_all() is a
// loop over the algorithm itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::lab {

class Chooser {
 public:
  Chooser() = default;
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  virtual ~Chooser() = default;

  // The index, in the list last given, of the backend for a flow. `live` are the connections of
  // each backend of the list, for those that go by them.
  [[nodiscard]] virtual std::optional<size_t> pick(uint64_t flow_hash,
                                                   std::span<const uint64_t> live) const = 0;
  // The sum of what it picks for these.
  [[nodiscard]] virtual uint64_t pick_all(std::span<const uint64_t> flow_hashes,
                                          std::span<const uint64_t> live) const = 0;
  // Goes on with another list.
  [[nodiscard]] virtual std::optional<Error> change(
      std::span<const balance::WeightedBackend> backends) = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() const = 0;
};

// What a chooser is made for.
struct ChooserNeeds {
  std::span<const balance::WeightedBackend> backends{};
  uint64_t seed = 1;
  // Of the lists to come, for algorithms that make room beforehand.
  uint32_t backends_max = 1;
  uint32_t weight_max = 1;
};

struct ChooserKind {
  std::string name;
  bool is_by_counts = false;  // asks for live connections, so a flow's next packet is not its own
  unsigned worker_count = 1;  // each with its own counts
  Result<std::unique_ptr<Chooser>> (*make)(const ChooserNeeds& needs) = nullptr;
};

// By name: maglev, ring, rendezvous, jump, anchor, dx, least_connections, and the last of four
// workers, least_connections_4; without an algorithm, raw_loop, which takes a backend by the hash
// and no weight.
[[nodiscard]] std::span<const ChooserKind> chooser_kinds();

// Nothing if there is none of that name.
[[nodiscard]] const ChooserKind* chooser_kind(const std::string& name);

}  // namespace roost::lab

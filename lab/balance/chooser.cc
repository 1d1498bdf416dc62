#include "lab/balance/chooser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "roost/balance/algorithm.h"
#include "roost/balance/anchor.h"
#include "roost/balance/dx.h"
#include "roost/balance/flow_draw.h"
#include "roost/balance/jump.h"
#include "roost/balance/least_connections.h"
#include "roost/balance/maglev.h"
#include "roost/balance/rendezvous.h"
#include "roost/balance/ring.h"

namespace roost::lab {
namespace {

using balance::WeightedBackend;

// What all have in common; `Picking` says how A is asked.
template <class A, class Picking>
class ChooserOf : public Chooser {
 public:
  explicit ChooserOf(A algorithm) : algorithm_(std::move(algorithm)) {}

  std::optional<size_t> pick(uint64_t flow_hash, std::span<const uint64_t> live) const override {
    return Picking::pick(algorithm_, flow_hash, live);
  }
  uint64_t pick_all(std::span<const uint64_t> flow_hashes,
                    std::span<const uint64_t> live) const override {
    uint64_t sum = 0;
    for (const uint64_t flow_hash : flow_hashes) {
      sum += Picking::pick(algorithm_, flow_hash, live).value_or(0);
    }
    return sum;
  }
  std::optional<Error> change(std::span<const WeightedBackend> backends) override {
    Result<A> next = algorithm_.next(backends);
    if (!next) return next.error();
    algorithm_ = std::move(next).value();
    return {};
  }
  uint64_t memory_bytes() const override { return algorithm_.memory_bytes(); }

 private:
  A algorithm_;
};

struct ByHash {
  static std::optional<size_t> pick(const auto& algorithm, uint64_t flow_hash,
                                    std::span<const uint64_t>) {
    return algorithm.pick(flow_hash);
  }
};

struct ByCounts {
  static std::optional<size_t> pick(const balance::LeastConnections& algorithm, uint64_t flow_hash,
                                    std::span<const uint64_t> live) {
    return algorithm.pick(flow_hash, [live](size_t backend) { return live[backend]; });
  }
};

// What a choice costs that needs no algorithm.
class RawLoop {
 public:
  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
  };
  static constexpr bool kKeepsHistory = false;

  static Result<RawLoop> create(const Config& config) {
    return RawLoop(static_cast<uint32_t>(config.backends.size()));
  }
  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const {
    if (count_ == 0) return std::nullopt;
    return balance::below(flow_hash, count_);
  }
  [[nodiscard]] Result<RawLoop> next(std::span<const WeightedBackend> backends) const {
    return create({backends});
  }
  [[nodiscard]] uint64_t memory_bytes() const { return sizeof(count_); }

 private:
  explicit RawLoop(uint32_t count) : count_(count) {}

  uint32_t count_;
};
static_assert(balance::Algorithm<RawLoop>);

template <class A>
typename A::Config config_for(const ChooserNeeds& needs) {
  typename A::Config config{.backends = needs.backends, .seed = needs.seed};
  if constexpr (requires { config.capacity_min; }) {
    config.capacity_min = needs.backends_max * needs.weight_max;
  }
  if constexpr (requires { config.place_count_min; }) {
    config.place_count_min = needs.backends_max;
    config.weight_max = needs.weight_max;
  }
  return config;
}

template <class A, class Picking = ByHash>
Result<std::unique_ptr<Chooser>> make(const ChooserNeeds& needs) {
  Result<A> algorithm = A::create(config_for<A>(needs));
  if (!algorithm) return algorithm.error();
  return std::unique_ptr<Chooser>(
      std::make_unique<ChooserOf<A, Picking>>(std::move(algorithm).value()));
}

const std::array kKinds = {
    ChooserKind{.name = "maglev", .make = make<balance::Maglev>},
    ChooserKind{.name = "ring", .make = make<balance::Ring>},
    ChooserKind{.name = "rendezvous", .make = make<balance::Rendezvous>},
    ChooserKind{.name = "jump", .make = make<balance::Jump>},
    ChooserKind{.name = "anchor", .make = make<balance::Anchor>},
    ChooserKind{.name = "dx", .make = make<balance::Dx>},
    ChooserKind{.name = "least_connections",
                .is_by_counts = true,
                .make = make<balance::LeastConnections, ByCounts>},
    ChooserKind{.name = "least_connections_4",
                .is_by_counts = true,
                .worker_count = 4,
                .make = make<balance::LeastConnections, ByCounts>},
    ChooserKind{.name = "raw_loop", .make = make<RawLoop>},
};

}  // namespace

std::span<const ChooserKind> chooser_kinds() { return kKinds; }

const ChooserKind* chooser_kind(const std::string& name) {
  const auto kind = std::ranges::find(kKinds, name, &ChooserKind::name);
  return kind == kKinds.end() ? nullptr : &*kind;
}

}  // namespace roost::lab

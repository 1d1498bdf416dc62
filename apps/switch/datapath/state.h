// What a switch knows while it runs: the forwarding database, which all workers share, and what
// each worker counts.
#pragma once

#include <memory>
#include <utility>

#include "apps/switch/config/config.h"
#include "roost/base/result.h"
#include "roost/bridge/fdb.h"
#include "roost/bridge/switching.h"

namespace roost::switching {

// All workers'.
struct Shared {
  // With the stations of the configuration. Errors: memory is unavailable.
  static Result<std::shared_ptr<Shared>> create(const Config& config);

  bridge::Fdb fdb;
  bridge::FloodRates rates;
};

// One worker's.
class State {
 public:
  // A configuration without a database, as for a check of it, gets one.
  static Result<State> create(const Config& config, size_t worker = 0, size_t worker_count = 1);

  [[nodiscard]] Shared& shared() const { return *shared_; }
  [[nodiscard]] bridge::Switching& switching() { return switching_; }
  [[nodiscard]] const bridge::Switching& switching() const { return switching_; }

  // The time of the latest batch, or turn without one.
  [[nodiscard]] Tick now() const { return now_; }
  void set_now(Tick now) { now_ = now; }

 private:
  State(std::shared_ptr<Shared> shared, bridge::Switching switching)
      : shared_(std::move(shared)), switching_(std::move(switching)) {}

  std::shared_ptr<Shared> shared_;
  bridge::Switching switching_;
  Tick now_{};
};

}  // namespace roost::switching

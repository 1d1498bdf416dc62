#include "apps/switch/datapath/state.h"

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::switching {

Result<std::shared_ptr<Shared>> Shared::create(const Config& config) {
  const double ageing_ticks = static_cast<double>(config.ageing_seconds) / config.tick_seconds();
  auto fdb = bridge::Fdb::create(
      {.entries_max = config.entries_max,
       .static_max = config.static_max,
       .learn_max = config.learn_max(),
       .moves = config.moves,
       .ageing_ticks = std::max<uint64_t>(1, static_cast<uint64_t>(ageing_ticks)),
       .tick_seconds = config.tick_seconds(),
       .hash_seed = config.hash_seed});
  if (!fdb) return fdb.error();
  auto shared = std::make_shared<Shared>(
      Shared{.fdb = std::move(fdb).value(), .rates = bridge::FloodRates(config.ports.size())});
  bridge::Fdb::Writer writer = shared->fdb.write();
  for (const StationConfig& station : config.stations) {
    const bool has_room = writer.add_static(station.key, station.port);
    ROOST_ASSERT(has_room);
  }
  return shared;
}

Result<State> State::create(const Config& config, size_t worker, size_t worker_count) {
  std::shared_ptr<Shared> shared = config.shared;
  if (shared == nullptr) {
    auto made = Shared::create(config);
    if (!made) return made.error();
    shared = std::move(made).value();
  }
  bridge::Switching switching(config.rules(), shared->fdb, shared->rates, worker, worker_count);
  return State(std::move(shared), std::move(switching));
}

}  // namespace roost::switching

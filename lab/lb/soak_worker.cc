#include "lab/lb/soak_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace roost::lab {
namespace {

using Clock = BatchTimes::Clock;

constexpr uint64_t kFloodPerPlace = 10;
// After so many ticks the oldest connections are gone, and so are the places that wait to be swept.
constexpr uint64_t kWarmUpTicks = 3 * SoakTraffic::kHeldTicks;
constexpr uint64_t kBatchesPerLook = 1'024;  // at the clock and at the load
// Connections of which the flood may drive out one that was assured and silent.
constexpr uint64_t kBegunPerAgain = 10'000;

}  // namespace

std::optional<Error> SoakWorker::fill_and_end() {
  progress_(0, "connections come, and go");
  if (auto error = traffic_.begin()) return error;
  if (auto error = send_untimed(true, SoakTraffic::kHeldTicks)) return error;
  return end();
}

std::optional<Error> SoakWorker::soak() {
  if (auto error = traffic_.begin()) return error;
  for (SoakPhase& phase : phases_) {
    // What the flood has left behind goes first.
    if (!phase.has_flood) {
      if (auto error = send_untimed(false, kWarmUpTicks)) return error;
    }
    if (auto error = run(phase)) return error;
  }
  if (auto error = check("with connections live")) return error;
  progress_(1, "everything ends");
  return end();
}

std::optional<Error> SoakWorker::run(SoakPhase& phase) {
  if (phase.has_flood) {
    const uint64_t end = traffic_.counts().flood + kFloodPerPlace * config_.connections;
    return send_until(phase, [&] { return traffic_.counts().flood >= end; });
  }
  const double half = config_.seconds / 2;
  const double share_before = &phase == &phases_.front() ? 0 : 0.5;
  const Clock::time_point began = Clock::now();
  return send_until(phase, [&] {
    const double passed = std::chrono::duration<double>(Clock::now() - began).count();
    progress_(share_before + std::min(passed / half, 1.0) / 2, phase.name);
    return passed >= half;
  });
}

std::optional<Error> SoakWorker::send_untimed(bool has_flood, uint64_t ticks) {
  SoakPhase unused{"", has_flood};
  const uint64_t end = traffic_.now().count + ticks;
  return send_until(unused, [&] { return traffic_.now().count >= end; });
}

template <class IsOver>
std::optional<Error> SoakWorker::send_until(SoakPhase& phase, IsOver&& is_over) {
  do {
    for (uint64_t i = 0; i < kBatchesPerLook; ++i) {
      if (!traffic_.send_batch(phase.has_flood, phase.times))
        return Error{"the stream ends before the soak"};
    }
    const double load =
        static_cast<double>(cell_.flow_counts().held()) / static_cast<double>(config_.connections);
    phase.load_min = std::min(phase.load_min, load);
    phase.load_max = std::max(phase.load_max, load);
  } while (!is_over());
  return {};
}

std::optional<Error> SoakWorker::end() {
  traffic_.end();
  if (auto error = check("with no connection left")) return error;
  const lb::FlowCounts flows = cell_.flow_counts();
  if (flows.ended * 2 == traffic_.counts().closed && flows.held() == 0) return {};
  return Error{fmt::format("{} connections closed and {} are counted; {} are left",
                           traffic_.counts().closed / 2, flows.ended, flows.held())};
}

// What has expired is reclaimed before counts are compared.
std::optional<Error> SoakWorker::check(std::string_view when) {
  const SoakCounts& done = traffic_.counts();
  if (done.lost != 0) {
    return Error{fmt::format("{} of {} packets of assured connections were not forwarded",
                             done.lost, done.packets)};
  }
  if (!cell_.audit()) return Error{fmt::format("an index leads nowhere, {}", when)};
  const lb::FlowCounts flows = cell_.flow_counts();
  const uint64_t live = cell_.counts().live;
  const uint64_t expected = done.begun + done.flood_created;
  if (flows.created < expected || flows.created > expected + done.begun / kBegunPerAgain ||
      flows.held() != live || flows.evicted > done.flood_created || flows.deleted != 0) {
    return Error{fmt::format(
        "the sums are wrong: {} created of {} and {}, {} ended, {} expired, {} evicted, {} live",
        flows.created, done.begun, done.flood_created, flows.ended, flows.expired, flows.evicted,
        live)};
  }
  return {};
}

}  // namespace roost::lab

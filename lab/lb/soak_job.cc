#include "lab/lb/soak_job.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "lab/harness/pinned_core.h"
#include "lab/lb/balancer.h"
#include "lab/lb/soak_traffic.h"
#include "lab/packets/batch_times.h"
#include "roost/conntrack/tables.h"

namespace roost::lab {
namespace {

using Clock = BatchTimes::Clock;

constexpr uint64_t kFloodPerPlace = 10;
// After so many ticks the oldest flows are gone, and so are the places that wait to be swept.
constexpr uint64_t kWarmUpTicks = 3 * SoakTraffic::kHeldTicks;
constexpr uint64_t kBatchesPerLook = 1'024;  // at the clock and at the load
// Flows of which the flood may drive out one that was assured and silent.
constexpr uint64_t kBegunPerAgain = 10'000;

struct Phase {
  const char* name;
  bool is_flood;
  BatchTimes times{};
  double load_min = 1;
  double load_max = 0;
};

class SoakJob {
 public:
  SoakJob(const SoakJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress) {}

  Result<Rows> run() {
    const Result<int> pinned = pin_to_core(config_.core);
    if (!pinned) return pinned.error();
    auto balancer = Balancer<conntrack::OwnTables>::create(
        {.connections = config_.connections,
         .hash_seed = config_.seed,
         .timeouts = fmt::format("tcp_established = {0}\ntcp_syn = {0}\ntcp_closing = {1}\n"
                                 "tcp_closed = {1}\nudp = {1}",
                                 SoakTraffic::kEstablishedTicks, SoakTraffic::kOtherTicks)});
    if (!balancer) return balancer.error();
    balancer_ = std::move(balancer).value();
    traffic_ = std::make_unique<SoakTraffic>(balancer_->state(), balancer_->datapath(),
                                             config_.connections);
    const double half = config_.seconds / 2;
    std::array<Phase, 3> phases = {{{"before", false}, {"flood", true}, {"after", false}}};
    warm_up();
    const size_t heap_before = mallinfo2().uordblks;
    run_for(phases[0], half, 0);
    run_flood(phases[1]);
    // What the flood has left behind goes first.
    warm_up();
    run_for(phases[2], half, 0.5);
    if (auto error = check_at_load()) return *error;
    if (auto error = check_at_the_end()) return *error;
    const size_t heap_after = mallinfo2().uordblks;
    if (heap_before != heap_after) {
      return Error{
          fmt::format("the heap held {} bytes before and {} after", heap_before, heap_after)};
    }
    return rows(phases);
  }

 private:
  using Connections = lb::ConnectionTable<net::Ipv4Address>;

  [[nodiscard]] Connections& connections() { return balancer_->state().ipv4().connections(); }

  void step(Phase& phase) {
    traffic_->prepare(phase.is_flood);
    const Clock::time_point began = Clock::now();
    traffic_->process();
    phase.times.add(Clock::now() - began);
    traffic_->judge();
  }

  void look_at_load(Phase& phase) {
    const double load =
        static_cast<double>(connections().size()) / static_cast<double>(config_.connections);
    phase.load_min = std::min(phase.load_min, load);
    phase.load_max = std::max(phase.load_max, load);
  }

  void warm_up() {
    Phase unused{"", false};
    const uint64_t end = traffic_->now().count + kWarmUpTicks;
    while (traffic_->now().count < end) step(unused);
  }

  void run_for(Phase& phase, double seconds, double share_before) {
    const Clock::time_point began = Clock::now();
    double passed = 0;
    while (passed < seconds) {
      for (uint64_t i = 0; i < kBatchesPerLook; ++i) step(phase);
      look_at_load(phase);
      passed = std::chrono::duration<double>(Clock::now() - began).count();
      progress_(share_before + passed / seconds / 2, phase.name);
    }
  }

  void run_flood(Phase& phase) {
    const uint64_t end = traffic_->counts().flood + kFloodPerPlace * config_.connections;
    while (traffic_->counts().flood < end) {
      step(phase);
      look_at_load(phase);
    }
  }

  std::optional<Error> check_at_load() {
    const SoakCounts& counts = traffic_->counts();
    if (counts.lost != 0) {
      return Error{fmt::format("{} of {} packets of assured flows were not forwarded", counts.lost,
                               counts.packets)};
    }
    balancer_->state().tracker().settle();
    if (!balancer_->state().audit()) return Error{"an index leads nowhere, with flows live"};
    return check_sums();
  }

  std::optional<Error> check_sums() {
    const lb::FlowCounts counts = balancer_->state().tracker().counts();
    const SoakCounts& done = traffic_->counts();
    const uint64_t live = balancer_->state().tracker().count_live();
    const uint64_t expected = done.begun + done.flood_created;
    if (counts.created < expected || counts.created > expected + done.begun / kBegunPerAgain ||
        counts.held() != live || connections().size() != live ||
        counts.evicted > done.flood_created || counts.deleted != 0) {
      return Error{fmt::format(
          "the sums are wrong: {} created of {} and {}, {} ended, {} expired, {} evicted, {} live",
          counts.created, done.begun, done.flood_created, counts.ended, counts.expired,
          counts.evicted, live)};
    }
    return {};
  }

  std::optional<Error> check_at_the_end() {
    progress_(1, "everything ends");
    traffic_->fall_silent();
    balancer_->state().tracker().settle();
    if (auto error = check_sums()) return error;
    const lb::FlowCounts counts = balancer_->state().tracker().counts();
    if (counts.ended * 2 != traffic_->counts().closed || counts.held() != 0) {
      return Error{fmt::format("{} flows closed and {} are counted; {} are left",
                               traffic_->counts().closed / 2, counts.ended, counts.held())};
    }
    if (!balancer_->state().audit()) return Error{"an index leads nowhere, with no flow left"};
    return {};
  }

  [[nodiscard]] Rows rows(std::span<const Phase> phases) {
    Rows rows;
    const SoakCounts& done = traffic_->counts();
    const lb::FlowCounts counts = balancer_->state().tracker().counts();
    for (const Phase& phase : phases) {
      RecordRow row;
      row.experiment = config_.experiment;
      row.contestant = "balancer";
      row.form = phase.name;
      row.workload = "churn";
      row.slots = config_.connections;
      row.entries = config_.connections;
      row.load = SoakTraffic::kLoad;
      row.operations = phase.times.total();
      row.table_bytes = connections().memory_bytes();
      row.page_bytes = connections().page_kind() == PageKind::kHuge2MiB ? 2U << 20 : 4U << 10;
      row.core = config_.core;
      row.seed = config_.seed;
      row.round = 0;
      add_quantiles(row, phase.times, rows);
      for (const auto& [metric, value] :
           {std::pair("load_min", phase.load_min), std::pair("load_max", phase.load_max)}) {
        row.metric = metric;
        row.value = value;
        rows.push_back(row);
      }
    }
    for (const auto& [metric, count] :
         {std::pair("packets", done.packets), std::pair("flows_begun", done.begun),
          std::pair("flows_refused", done.refused), std::pair("packets_lost", done.lost),
          std::pair("flood_packets", done.flood), std::pair("flows_created", counts.created),
          std::pair("flows_ended", counts.ended), std::pair("flows_expired", counts.expired),
          std::pair("flows_evicted", counts.evicted), std::pair("flows_left", counts.held())}) {
      RecordRow row = rows.front();
      row.form = "whole run";
      row.metric = metric;
      row.value = static_cast<double>(count);
      rows.push_back(row);
    }
    return rows;
  }

  const SoakJobConfig& config_;
  const Progress& progress_;
  std::unique_ptr<Balancer<conntrack::OwnTables>> balancer_;
  std::unique_ptr<SoakTraffic> traffic_;
};

}  // namespace

Result<Rows> run_soak_job(const SoakJobConfig& config, const Progress& progress) {
  return SoakJob(config, progress).run();
}

}  // namespace roost::lab

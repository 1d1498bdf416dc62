#include "apps/lb/control/balancer.h"

#include <fmt/format.h>

#include <utility>

#include "apps/lb/control/flow_note.h"
#include "apps/lb/control/metrics.h"
#include "roost/control/counter_text.h"

namespace roost::lb {

namespace {

FlowCounts flow_counts(const std::array<uint64_t, kFlowCounters.size()>& numbers) {
  FlowCounts counts;
  for (size_t i = 0; i < numbers.size(); ++i) counts.*kFlowCounters[i].value = numbers[i];
  return counts;
}

// Another configuration may want other checks.
control::Control::Config with_checks(control::Control::Config config, HealthChecks& checks) {
  config.on_reload = [&checks] { checks.check_anew(); };
  return config;
}

}  // namespace

node::RunConfig Balancer::run_config(const Config& config) {
  return {.ports = node::ports_of(config.network.ports),
          .tick_microseconds = config.tick_microseconds,
          .workers = config.workers,
          .hash_seed = config.table.hash_seed,
          .section = "[lb]"};
}

std::string Balancer::summary_of(const Config& config) {
  size_t backends = 0;
  for (const ServiceConfig& service : config.services) backends += service.backends.size();
  return fmt::format(
      "{} ports, {} neighbours, {} services with {} backends in all; room for {} connections of "
      "each family; a tick of {:g} s.",
      config.network.ports.size(), config.network.neighbours.size(), config.services.size(),
      backends, config.table.connections, config.tick_seconds());
}

std::optional<Error> Balancer::prepare(Config& config, const node::RunPlan& plan) {
  config.workers.count = plan.worker_count;
  config.table.hash_seed = plan.hash_seed;
  return {};
}

Result<State> Balancer::create_state(const Config& config, const node::WorkerSeat& seat) {
  return State::create(config, seat.device_macs,
                       {.worker = seat.worker, .worker_count = seat.worker_count});
}

trace::TraceWords Balancer::trace_words() { return {"balancer", kDropCauses, explanation}; }

Balancer::Running::Running(const Config& config, control::Control::Config control,
                           std::vector<State*> states)
    : control_(config, with_checks(std::move(control), checks_), std::move(states)),
      checks_(control_) {}

control::MetricFamilies Balancer::Running::metrics() { return metric_families(control_.sample()); }

std::array<uint64_t, Balancer::kStatusCount> Balancer::status(const State& state) {
  const FlowCounts counts = state.tracker().counts();
  std::array<uint64_t, kStatusCount> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = counts.*kFlowCounters[i].value;
  return numbers;
}

std::string Balancer::status_text(const std::array<uint64_t, kStatusCount>& now,
                                  const std::array<uint64_t, kStatusCount>& before) {
  const FlowCounts flows = flow_counts(now);
  return fmt::format("  flows: {}, {}/s, {} not yet over",
                     control::all_in_words<FlowCounts>(kFlowsCreated, flows),
                     flows.created - flow_counts(before).created, flows.held());
}

}  // namespace roost::lb

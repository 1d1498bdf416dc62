#include "apps/lb/control/balancer.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
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
    : config_(config),
      is_replay_(control.is_replay),
      control_(config, with_checks(std::move(control), checks_), std::move(states)),
      checks_(control_) {}

std::optional<Error> Balancer::Running::on_started() {
  if (!is_replay_) {
    if (!config_.control.etcd.empty()) control_.await_store();
    if (auto error = begin_announcing()) return error;
    follow_etcd();
  }
  checks_.check_anew();
  return {};
}

std::optional<Error> Balancer::Running::begin_announcing() {
  if (!config_.announce) return {};
  auto routes =
      control::AnnouncedRoutes::create({config_.announce->device, config_.announce->table});
  if (!routes) return Error{"[announce]: " + routes.error().message};
  routes_.emplace(std::move(routes).value());
  return control_.begin_announcing(
      [this](const std::vector<net::IpAddress>& addresses) { return routes_->set(addresses); });
}

void Balancer::Running::follow_etcd() {
  if (config_.control.etcd.empty()) return;
  etcd_ = std::make_unique<control::EtcdWatch>(control::EtcdWatch::Config{
      .url = config_.control.etcd,
      .prefix = config_.control.etcd_prefix,
      .on_keys =
          [this](const control::EtcdKeys& keys) {
            return control_.take_store(keys.revision, keys.values);
          },
      .on_away = [this](const std::string& reason) { control_.note_store_away(reason); }});
}

// What is on its way to the withdrawn addresses still finds the workers.
void Balancer::Running::leave() {
  if (!routes_) return;
  control_.leave();
  std::this_thread::sleep_for(std::chrono::duration<double>(config_.announce->stop_seconds));
}

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

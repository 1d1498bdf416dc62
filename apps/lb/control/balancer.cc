#include "apps/lb/control/balancer.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "apps/lb/control/flow_note.h"
#include "apps/lb/control/metrics.h"
#include "roost/control/counter_text.h"
#include "roost/control/event_log.h"

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

std::optional<Error> Balancer::prepare(Config& config, node::RunPlan& plan) {
  config.workers.count = plan.worker_count;
  config.table.hash_seed = plan.hash_seed;
  if (config.state.empty() || plan.is_replay) {
    if (!plan.takes_over) return {};
    return Error{plan.is_replay ? "a replay takes over nothing; leave --takeover out"
                                : "--takeover finds connections by the key `state` of [lb], "
                                  "which the configuration lacks"};
  }
  RunSeeds seeds{.worker_count = plan.worker_count,
                 .owner_seed = plan.owner_seed,
                 .start_cycles = plan.clock.start_cycles,
                 .tick_cycles = plan.clock.tick_cycles};
  auto takeover = Takeover::begin(config, plan.takes_over, seeds, [](std::string_view text) {
    control::log_event(control::Severity::kNotice, text);
  });
  if (!takeover) return takeover.error();
  config.takeover = std::move(takeover).value();
  plan.owner_seed = seeds.owner_seed;
  plan.clock = {.start_cycles = seeds.start_cycles, .tick_cycles = seeds.tick_cycles};
  return {};
}

Result<State> Balancer::create_state(const Config& config, const node::WorkerSeat& seat) {
  return State::create(config, seat.device_macs,
                       config.takeover
                           ? config.takeover->share(seat.worker)
                           : WorkerShare{.worker = seat.worker, .worker_count = seat.worker_count});
}

trace::TraceWords Balancer::trace_words() { return {"balancer", kDropCauses, explanation}; }

Balancer::Running::Running(const Config& config, control::Control::Config control,
                           std::vector<State*> states)
    : config_(config),
      is_replay_(control.is_replay),
      control_(config, with_checks(std::move(control), checks_), states),
      checks_(control_),
      states_(std::move(states)),
      takeover_(config.takeover.get()) {}

std::optional<Error> Balancer::Running::take_over(std::span<const io::Port> ports,
                                                  Takeover::Hooks hooks) {
  if (takeover_ == nullptr) return {};
  if (takeover_->awaits_connections()) {
    hooks.begin = [this] {
      if (const auto error = start_beside()) {
        control::log_event(control::Severity::kError, error->message);
      }
    };
  }
  hooks.give_routes_away = [this]() -> std::optional<HandedRoutes> {
    if (!announcer_) return {};
    return announcer_->give_away();
  };
  hooks.take_routes_back = [this]() -> std::optional<Error> {
    if (!announcer_) return {};
    return announcer_->take_back();
  };
  const auto discard = [ports] {
    for (const io::Port& port : ports) port.discard_received();
  };
  if (auto error = takeover_->adopt(states_, discard)) return error;
  return takeover_->serve(std::move(hooks));
}

bool Balancer::Running::goes_on() { return takeover_ == nullptr || takeover_->goes_on(states_); }

void Balancer::Running::end_takeovers() {
  if (takeover_ != nullptr) takeover_->end();
}

std::optional<Error> Balancer::Running::on_started() {
  if (takeover_ != nullptr && takeover_->awaits_connections()) return {};
  return start_beside();
}

std::optional<Error> Balancer::Running::start_beside() {
  const std::scoped_lock lock(beside_mutex_);
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
  std::optional<HandedRoutes> handed =
      takeover_ != nullptr ? takeover_->take_routes() : std::nullopt;
  const std::vector<net::IpAddress> announced =
      handed ? handed->addresses : std::vector<net::IpAddress>();
  auto announcer = Announcer::create(*config_.announce, std::move(handed));
  if (!announcer) return Error{"[announce]: " + announcer.error().message};
  announcer_ = std::move(announcer).value();
  return control_.begin_announcing(
      [this](const std::vector<net::IpAddress>& addresses) { return announcer_->set(addresses); },
      announced);
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
  {
    const std::scoped_lock lock(beside_mutex_);
    if (!announcer_) return;
  }
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

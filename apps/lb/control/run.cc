#include "apps/lb/control/run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "apps/lb/control/control_plane.h"
#include "apps/lb/control/flow_note.h"
#include "apps/lb/control/status_line.h"
#include "apps/lb/datapath/datapath.h"
#include "roost/concurrent/published.h"
#include "roost/control/offload_watch.h"
#include "roost/control/thread_placement.h"
#include "roost/io/capture_arguments.h"
#include "roost/io/eal.h"
#include "roost/node/run.h"
#include "roost/trace/watched.h"

namespace roost::lb {

namespace {

using WatchedDatapath = trace::Watched<Datapath, State>;
using BalancerWorker = node::FunctionWorker<State, WatchedDatapath>;

void say(std::string_view text) { fmt::print(stderr, "roost: {}\n", text); }

class BalancerRun final : public node::RunFunction {
 public:
  BalancerRun(const Config& config, const RunOptions& options)
      : config_(config), options_(options), allowed_(control::allowed_processors()) {}

  [[nodiscard]] RunOutcome take_outcome() { return std::move(outcome_); }

  void prepare(const node::RunPlan& plan) override {
    config_.workers = plan.worker_count;
    config_.table.hash_seed = plan.hash_seed;
    is_replay_ = plan.is_replay;
    workers_.resize(plan.worker_count);
    published_ = std::vector<Numbers>(plan.worker_count);
  }

  Result<std::unique_ptr<node::RunningWorker>> make_worker(const node::WorkerSeat& seat) override {
    auto state = State::create(config_, seat.device_macs,
                               {.worker = seat.worker, .worker_count = seat.worker_count});
    if (!state) return state.error();
    auto made = std::make_unique<BalancerWorker>(std::move(state).value(), seat);
    workers_[seat.worker] = made.get();
    return std::unique_ptr<node::RunningWorker>(std::move(made));
  }

  // Others may ask as soon as packets flow, and until they flow no more.
  std::optional<Error> begin(node::Workers& workers, std::span<const io::Port> ports) override {
    std::vector<trace::WatchPoint*> points;
    for (BalancerWorker* worker : workers_) points.push_back(&worker->datapath);
    tracer_.emplace(trace::Tracer::Config{
        .points = points,
        .room = &workers.room(),
        .ports = node::device_names(ports),
        .is_replay = is_replay_,
        .tick_nanoseconds = config_.tick_microseconds * 1'000,
        .application = "roost lb",
        .words = {"balancer", kDropCauses, explanation},
        .tell = control::log_event,
        .print = [](std::string_view line) { fmt::print(stderr, "{}\n", line); }});
    auto plane = ControlPlane::start(
        config_,
        {.workers = controlled(workers),
         .room = &workers.room(),
         .read_devices =
             [ports](std::span<node::PortTotals> totals) { node::read_devices(ports, totals); },
         .io_version = io::dpdk_version(),
         .config_path = options_.config_path,
         .trace = [this](const Json& parameters) { return tracer_->trace(parameters); },
         .begin = [this] { return tracer_->begin(options_.trace); },
         .tell = control::log_event,
         .read_links = [ports] { return read_links(ports); }},
        allowed_);
    if (!plane) return plane.error();
    plane_.emplace(std::move(plane).value());
    if (is_replay_) return {};
    offloads_ = watch_offloads(workers.cores());
    workers_.front()->state.announce();
    return {};
  }

  void on_second(size_t worker, const node::WorkerCounters& counters) override {
    const FlowCounts flows = workers_[worker]->state.counts();
    published_[worker].publish({counters.packets, counters.drops.sum(), flows.made, flows.ended,
                                flows.expired, flows.deleted, flows.evicted});
    if (worker == 0) show();
  }

  void end() override {
    offloads_.reset();
    plane_.reset();
    outcome_.capture_error = tracer_->finish();
  }

  void finish(node::RunTotals totals) override {
    std::vector<State*> states;
    for (BalancerWorker* worker : workers_) states.push_back(&worker->state);
    outcome_.report = make_report(states, std::move(totals));
  }

 private:
  using Numbers = Published<7>;  // packets, drops, flows made, ended, expired, deleted and evicted

  static std::vector<control::PortLink> read_links(std::span<const io::Port> ports) {
    std::vector<control::PortLink> links;
    for (const io::Port& port : ports) links.push_back({port.device_name(), port.is_link_up()});
    return links;
  }

  [[nodiscard]] std::vector<ControlledWorker> controlled(node::Workers& workers) const {
    std::vector<ControlledWorker> controlled;
    for (size_t worker = 0; worker < workers_.size(); ++worker) {
      State& state = workers_[worker]->state;
      controlled.push_back(
          {{&state.next_hops(),
            [&workers, worker](node::RunTotals& totals) { workers.add_totals(worker, totals); },
            workers.cores()[worker]},
           &state});
    }
    return controlled;
  }

  // What their senders and the kernel leave to network cards is said once each.
  [[nodiscard]] std::unique_ptr<control::OffloadWatch> watch_offloads(
      std::span<const unsigned> cores) const {
    const auto devices = io::read_device_arguments(options_.eal_arguments);
    if (!devices) return {};
    std::vector<std::string> interfaces;
    for (const io::DeviceArgument& device : devices.value()) {
      if (!device.interface.empty()) interfaces.push_back(device.interface);
    }
    const control::ControlPlacement placement(allowed_, cores);
    return std::make_unique<control::OffloadWatch>(interfaces, say);
  }

  void show() {
    StatusLine::Numbers sum;
    for (const Numbers& one : published_) {
      const auto [packets, drops, made, ended, expired, deleted, evicted] = one.look();
      sum.packets += packets;
      sum.drops += drops;
      sum.flows += {made, ended, expired, deleted, evicted};
    }
    status_line_.show(sum);
  }

  Config config_;
  const RunOptions& options_;
  cpu_set_t allowed_;  // before DPDK binds this thread to one
  bool is_replay_ = false;
  std::vector<BalancerWorker*> workers_;
  std::vector<Numbers> published_;  // by worker
  StatusLine status_line_;
  std::optional<trace::Tracer> tracer_;
  std::optional<ControlPlane> plane_;
  std::unique_ptr<control::OffloadWatch> offloads_;
  RunOutcome outcome_;
};

}  // namespace

Result<RunOutcome> run_on_ports(const Config& config, const RunOptions& options) {
  BalancerRun run(config, options);
  const std::optional<Error> error = node::run_on_ports(
      {.ports = config.network.ports,
       .tick_microseconds = config.tick_microseconds,
       .workers = config.workers,
       .hash_seed = config.table.hash_seed,
       .section = "[lb]"},
      {.eal_arguments = options.eal_arguments, .stop = options.stop, .notice = say}, run);
  if (error) return *error;
  return run.take_outcome();
}

}  // namespace roost::lb

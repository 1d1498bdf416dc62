// One run of a network function on DPDK ports, with all that surrounds it: workers, control plane,
// packet traces, the line on the terminal.
//
// A function says what is its own in a class like this one; those of apps/ are like it:
//
//   struct Router {
//     using Config, State, Datapath, Report;
//     static constexpr control::FunctionNames kNames;
//     static std::span<const control::Command> commands();
//     static config::Outcome<Config> read_config(const std::string& path);
//     static std::string summary_of(const Config&);               // for --check
//     static node::RunConfig run_config(const Config&);
//     static std::optional<Error> prepare(Config&, node::RunPlan&);  // what the plan settles
//     static Result<State> create_state(const Config&, const node::WorkerSeat&);
//     static trace::TraceWords trace_words();
//     class Running {                                             // while packets flow
//       Running(const Config&, control::Control::Config, std::vector<State*>);
//       control::Control& control();
//       control::MetricFamilies metrics();                        // on several threads at a time
//       std::optional<Error> on_started();                        // requests are taken
//       void leave();         // a stop was requested; workers go on until it returns
//       void ended();         // workers have, and nobody asks for anything any more
//       // Only of a function that can take over: see apps/lb/control/balancer.h.
//       std::optional<Error> take_over(std::span<const io::Port>, hooks);
//       bool goes_on();
//       void end_takeovers();
//     };
//     static constexpr size_t kStatusCount;                       // numbers of the status line
//     static std::array<uint64_t, kStatusCount> status(const State&);  // on the worker's thread
//     static std::string status_text(now, before);                // sums of all workers
//     static Report make_report(std::span<State* const>, node::RunTotals);
//   };
//
// A Config has a config::ControlConfig `control`. A State has trace::Watched's explain(), and what
// control::HasNetworkLayer asks for unless the function has no addresses; a Report has
// format_text(), format_json() and broken_sums().
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/program/status_line.h"
#include "roost/base/result.h"
#include "roost/concurrent/published.h"
#include "roost/control/control_plane.h"
#include "roost/control/offload_watch.h"
#include "roost/control/thread_placement.h"
#include "roost/io/capture_arguments.h"
#include "roost/io/eal.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"
#include "roost/trace/watched.h"

namespace roost::program {

struct RunOptions {
  std::span<const std::string> eal_arguments{};
  std::string config_path{};                         // read again on reload
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: end the run
  trace::TraceOptions trace{};
  bool takes_over = false;
};

template <class Report>
struct RunOutcome {
  Report report{};
  std::optional<Error> capture_error{};  // the file of --capture is not whole
};

// On standard error, with the program's name.
void complain(std::string_view text);

// Of captures or live traffic, until the captures end or a stop is requested.
template <class Function>
class FunctionRun final : public node::RunFunction {
 public:
  using Config = typename Function::Config;
  using State = typename Function::State;
  using Report = typename Function::Report;

  // The options must outlive the run.
  FunctionRun(const Config& config, const RunOptions& options)
      : config_(config), options_(options), allowed_(control::allowed_processors()) {}

  [[nodiscard]] RunOutcome<Report> take_outcome() { return std::move(outcome_); }

  std::optional<Error> prepare(node::RunPlan& plan) override {
    is_replay_ = plan.is_replay;
    workers_.resize(plan.worker_count);
    published_ = std::vector<Numbers>(plan.worker_count);
    return Function::prepare(config_, plan);
  }

  Result<std::unique_ptr<node::RunningWorker>> make_worker(const node::WorkerSeat& seat) override {
    auto state = Function::create_state(config_, seat);
    if (!state) return state.error();
    auto made = std::make_unique<Worker>(std::move(state).value(), seat);
    workers_[seat.worker] = made.get();
    return std::unique_ptr<node::RunningWorker>(std::move(made));
  }

  // Others may ask as soon as packets flow, and until they flow no more.
  std::optional<Error> begin(node::Workers& workers, std::span<const io::Port> ports) override {
    make_tracer(workers, ports);
    running_.emplace(config_, control_config(workers, ports), states());
    auto plane = control::ControlPlane::start(
        running_->control(), {.faces = config_.control,
                              .metrics = [this] { return running_->metrics(); },
                              .full_table_advice = std::string(Function::kNames.full_table_advice),
                              .read_links = [ports] { return read_links(ports); },
                              .begin = [this] { return tracer_->begin(options_.trace); },
                              .on_started = [this] { return running_->on_started(); },
                              .allowed = allowed_});
    if (!plane) {
      running_.reset();  // its threads ask workers that will not be there
      return plane.error();
    }
    plane_.emplace(std::move(plane).value());
    cores_ = workers.cores();
    if (is_replay_) return {};
    offloads_ = watch_offloads(cores_);
    if constexpr (control::HasNetworkLayer<State>) {
      workers_.front()->state.next_hops().announce();
    }
    if constexpr (kTakesOver) {
      auto error = take_over(workers, ports);
      if (error) end();
      return error;
    }
    return {};
  }

  void on_second(size_t worker, const node::WorkerCounters& counters) override {
    std::array<uint64_t, kNumbers> numbers{counters.packets, counters.drops.sum()};
    const auto own = Function::status(workers_[worker]->state);
    std::ranges::copy(own, numbers.begin() + kCommonNumbers);
    published_[worker].publish(numbers);
    if (worker == 0) show_status();
  }

  // Who sends packets here is told first, by a thread beside the workers.
  bool may_stop() override {
    if (is_replay_) return true;
    if (!leaving_.joinable()) {
      leaving_ = std::jthread([this] {
        const control::ControlPlacement placement(allowed_, cores_);
        running_->leave();
        left_.request_stop();
      });
    }
    return left_.stop_requested();
  }

  bool goes_on() override {
    if constexpr (kTakesOver) return !running_ || running_->goes_on();
    return true;
  }

  void end() override {
    if (leaving_.joinable()) leaving_.join();
    if constexpr (kTakesOver) {
      if (running_) running_->end_takeovers();
    }
    offloads_.reset();
    plane_.reset();
    if (running_) running_->ended();
    running_.reset();
    if (tracer_) outcome_.capture_error = tracer_->finish();
  }

  void finish(node::RunTotals totals) override {
    outcome_.report = Function::make_report(states(), std::move(totals));
    config_ = Config();  // what prepare() made may stand in memory that ends with EAL
  }

 private:
  static constexpr bool kTakesOver =
      requires(typename Function::Running& running) { running.end_takeovers(); };
  using Datapath = trace::Watched<typename Function::Datapath, State>;
  static_assert(node::HasTwoPhases<Datapath> == node::HasTwoPhases<typename Function::Datapath>);
  using Worker = node::FunctionWorker<State, Datapath>;
  static constexpr size_t kCommonNumbers = 2;  // packets and drops
  static constexpr size_t kNumbers = kCommonNumbers + Function::kStatusCount;
  using Numbers = Published<kNumbers>;

  // Another process needs the addresses at which this one is asked, until it is clear who goes on.
  std::optional<Error> take_over(node::Workers& workers, std::span<const io::Port> ports) {
    const control::ControlPlacement placement(allowed_, cores_);
    if (!running_ || !plane_) return {};
    control::ControlPlane& plane = *plane_;  // there until end() has ended all takeovers
    return running_->take_over(ports, {.close_sockets = [&plane] { plane.close_sockets(); },
                                       .open_sockets = [&plane] { return plane.open_sockets(); },
                                       .interrupt = [&workers] { workers.interrupt(); }});
  }

  static std::vector<control::PortLink> read_links(std::span<const io::Port> ports) {
    std::vector<control::PortLink> links;
    for (const io::Port& port : ports) links.push_back({port.device_name(), port.is_link_up()});
    return links;
  }

  [[nodiscard]] std::vector<State*> states() const {
    std::vector<State*> states;
    for (Worker* worker : workers_) states.push_back(&worker->state);
    return states;
  }

  void make_tracer(node::Workers& workers, std::span<const io::Port> ports) {
    std::vector<trace::WatchPoint*> points;
    for (Worker* worker : workers_) points.push_back(&worker->datapath);
    tracer_.emplace(trace::Tracer::Config{
        .points = points,
        .mailboxes = &workers.mailboxes(),
        .ports = node::device_names(ports),
        .is_replay = is_replay_,
        .tick_nanoseconds = Function::run_config(config_).tick_microseconds * 1'000,
        .application = "roost " + std::string(Function::kNames.command),
        .words = Function::trace_words(),
        .tell = control::log_event,
        .print = [](std::string_view line) { fmt::print(stderr, "{}\n", line); }});
  }

  [[nodiscard]] control::Control::Config control_config(node::Workers& workers,
                                                        std::span<const io::Port> ports) {
    control::Control::Config config{
        .function = std::string(Function::kNames.noun),
        .commands = Function::commands(),
        .mailboxes = &workers.mailboxes(),
        .read_devices =
            [ports](std::span<node::PortTotals> totals) { node::read_devices(ports, totals); },
        .io_version = io::dpdk_version(),
        .config_path = options_.config_path,
        .trace = [this](const control::Json& parameters) { return tracer_->trace(parameters); },
        .is_replay = is_replay_,
        .tell = control::log_event};
    for (size_t worker = 0; worker < workers_.size(); ++worker) {
      config.workers.push_back(control::worker_handle(
          workers_[worker]->state,
          [&workers, worker](node::RunTotals& totals) { workers.add_totals(worker, totals); },
          workers.cores()[worker]));
    }
    return config;
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
    return std::make_unique<control::OffloadWatch>(interfaces, complain);
  }

  void show_status() {
    std::array<uint64_t, kNumbers> sum{};
    for (const Numbers& one : published_) {
      const auto numbers = one.look();
      for (size_t i = 0; i < kNumbers; ++i) sum[i] += numbers[i];
    }
    std::array<uint64_t, Function::kStatusCount> own{};
    std::ranges::copy(std::span(sum).subspan(kCommonNumbers), own.begin());
    status_line_.show({sum[0], sum[1]}, Function::status_text(own, status_before_));
    status_before_ = own;
  }

  Config config_;
  const RunOptions& options_;
  cpu_set_t allowed_;  // before DPDK binds this thread to one
  bool is_replay_ = false;
  std::vector<Worker*> workers_;
  std::vector<Numbers> published_;  // by worker
  StatusLine status_line_;
  std::array<uint64_t, Function::kStatusCount> status_before_{};
  std::optional<trace::Tracer> tracer_;
  std::optional<typename Function::Running> running_;
  std::optional<control::ControlPlane> plane_;
  std::unique_ptr<control::OffloadWatch> offloads_;
  std::vector<unsigned> cores_;  // of the workers
  std::stop_source left_;        // nobody is told to send packets here any more
  std::jthread leaving_;
  RunOutcome<Report> outcome_;
};

// What is odd about captures and ports is said on standard error. While it runs, a line a second on
// standard error if that is a terminal.
template <class Function>
[[nodiscard]] Result<RunOutcome<typename Function::Report>> run_on_ports(
    const typename Function::Config& config, const RunOptions& options) {
  FunctionRun<Function> run(config, options);
  const std::optional<Error> error = node::run_on_ports(Function::run_config(config),
                                                        {.eal_arguments = options.eal_arguments,
                                                         .stop = options.stop,
                                                         .notice = complain,
                                                         .takes_over = options.takes_over},
                                                        run);
  if (error) return *error;
  return run.take_outcome();
}

}  // namespace roost::program

#include "lab/lb/serve_job.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <utility>

#include "lab/lb/balancer.h"
#include "roost/node/run.h"
#include "roost/node/worker_loop.h"

namespace roost::lab {
namespace {

volatile std::sig_atomic_t serve_stop = 0;

void end_serving_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { serve_stop = signal; };
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

// What the worker loop calls.
class CellFunction {
 public:
  explicit CellFunction(Cell& cell) : cell_(cell) {}

  void process(net::PacketBatch& batch, Tick now) { cell_.process(batch, now); }
  void idle(Tick now, uint64_t /*budget*/) { cell_.idle(now); }
  [[nodiscard]] net::Outbox& outbox() { return cell_.outbox(); }

 private:
  Cell& cell_;
};

class CellWorker final : public node::RunningWorker {
 public:
  CellWorker(std::unique_ptr<Cell> cell, const node::WorkerSeat& seat)
      : cell_(std::move(cell)), function_(*cell_), loop_(function_, seat.ports, seat.config) {}

  void run_live(const io::TickClock& clock, const Stop& stop, const OnSecond& on_second) override {
    loop_.run_live(clock, stop, on_second);
  }
  void run_captures(io::CaptureMerge& captures, const Stop& stop,
                    const OnSecond& on_second) override {
    loop_.run_captures(captures, stop, on_second);
  }
  [[nodiscard]] const node::WorkerCounters& counters() const override { return loop_.counters(); }
  [[nodiscard]] Cell& cell() { return *cell_; }

 private:
  std::unique_ptr<Cell> cell_;
  CellFunction function_;
  node::Worker<CellFunction> loop_;
};

class Serving final : public node::RunFunction {
 public:
  explicit Serving(const ServeConfig& config) : config_(config) {}

  [[nodiscard]] const std::optional<Error>& wrong() const { return wrong_; }

  std::optional<Error> prepare(node::RunPlan& /*plan*/) override { return {}; }

  Result<std::unique_ptr<node::RunningWorker>> make_worker(const node::WorkerSeat& seat) override {
    auto cells = make_cells(config_.cell, config_.setup);
    if (!cells) return cells.error();
    auto made = std::make_unique<CellWorker>(std::move(cells.value().front()), seat);
    worker_ = made.get();
    return std::unique_ptr<node::RunningWorker>(std::move(made));
  }

  std::optional<Error> begin(node::Workers& /*workers*/,
                             std::span<const io::Port> /*ports*/) override {
    say("{\"ready\": true}");
    return {};
  }

  void on_second(size_t /*worker*/, const node::WorkerCounters& counters) override {
    const lb::FlowCounts flows = worker_->cell().flow_counts();
    say(fmt::format("{{\"packets\": {}, \"created\": {}, \"held\": {}}}", counters.packets,
                    flows.created, flows.held()));
  }

  void end() override {}

  void finish(node::RunTotals totals) override {
    const io::PortCounters ports = node::add_up_ports(totals);
    const lb::FlowCounts flows = worker_->cell().flow_counts();
    say(fmt::format(
        "{{\"received\": {}, \"sent\": {}, \"dropped\": {}, \"originated\": {}, "
        "\"created\": {}, \"ended\": {}, \"expired\": {}, \"evicted\": {}, "
        "\"table_bytes\": {}}}",
        ports.received, ports.sent, totals.drops.sum(), totals.originated, flows.created,
        flows.ended, flows.expired, flows.evicted, worker_->cell().memory_bytes()));
    if (ports.received + totals.originated != ports.sent + totals.drops.sum() + totals.consumed)
      wrong_ = Error{"packets in are not packets out, dropped and consumed"};
    if (!worker_->cell().audit()) wrong_ = Error{"the audit of the tables fails"};
  }

 private:
  static void say(std::string_view line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  const ServeConfig& config_;
  CellWorker* worker_ = nullptr;
  std::optional<Error> wrong_;
};

}  // namespace

std::optional<Error> run_serve_job(const ServeConfig& config) {
  const lb::ConfigOutcome outcome = lb::parse_config(balancer_toml({.connections = 16}));
  if (!outcome.config) return Error{config::describe(outcome.faults.front(), "the configuration")};
  end_serving_on_signals();
  Serving serving(config);
  auto error = node::run_on_ports(
      {.ports = node::ports_of(outcome.config->network.ports),
       .tick_microseconds = static_cast<uint64_t>(config.setup.tick_seconds * 1e6),
       .hash_seed = config.setup.hash_seed},
      {.eal_arguments = config.eal_arguments, .stop = &serve_stop}, serving);
  return error ? error : serving.wrong();
}

}  // namespace roost::lab

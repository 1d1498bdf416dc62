// One run of a function on DPDK ports: captures or live traffic, until the captures end or a stop
// is requested.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "roost/config/function_config.h"
#include "roost/config/workers_config.h"
#include "roost/io/port.h"
#include "roost/l3/network_config.h"
#include "roost/node/run_totals.h"
#include "roost/node/workers.h"

namespace roost::node {

// What of a function's configuration a run needs.
struct RunConfig {
  std::vector<io::Port::Config>
      ports{};  // in DPDK's order; numbers, workers and keys are the run's
  uint64_t tick_microseconds = 1'000'000;
  config::WorkersConfig workers{};
  std::optional<uint64_t> hash_seed{};  // else random, or fixed for a replay
  std::string section{};                // of the file, where `workers` stands: "[lb]"
};

// `section`: as above.
[[nodiscard]] inline RunConfig run_config_of(const config::FunctionConfig& config,
                                             std::string section,
                                             std::vector<io::Port::Config> ports) {
  return {.ports = std::move(ports),
          .tick_microseconds = config.tick_microseconds,
          .workers = config.workers,
          .hash_seed = config.hash_seed,
          .section = std::move(section)};
}

struct RunOptions {
  using Notice = std::function<void(std::string_view text)>;

  std::span<const std::string> eal_arguments{};
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: end the run
  Notice notice = [](std::string_view) {};           // what an operator should know, a sentence
  bool takes_over = false;  // go on with what another process has, where the function can
};

// Of a function with a network layer.
[[nodiscard]] std::vector<io::Port::Config> ports_of(std::span<const l3::PortConfig> ports);

// What is settled before anything is made.
struct RunPlan {
  uint32_t worker_count = 1;  // of a replay one, so that it repeats
  std::optional<uint64_t> hash_seed{};
  bool is_replay = false;
  bool takes_over = false;
  uint64_t owner_seed = 0;        // which worker owns a flow
  io::TickClock::Origin clock{};  // of live traffic
};

// What a run has decided of a function's configuration.
inline void take_plan(config::FunctionConfig& config, const RunPlan& plan) {
  config.workers.count = plan.worker_count;
  config.hash_seed = plan.hash_seed;
}

// What a function does in a run; on the main thread, but where it says so.
class RunFunction {
 public:
  RunFunction() = default;
  RunFunction(const RunFunction&) = delete;
  RunFunction& operator=(const RunFunction&) = delete;
  virtual ~RunFunction() = default;

  // EAL runs; no worker is there yet. One that takes over sets seed and clock of the owners to
  // those of the other process.
  virtual std::optional<Error> prepare(RunPlan& plan) = 0;
  // On the worker's core; of all workers at the same time.
  virtual Result<std::unique_ptr<RunningWorker>> make_worker(const WorkerSeat& seat) = 0;
  // The workers are there, and packets are about to flow.
  virtual std::optional<Error> begin(Workers& workers, std::span<const io::Port> ports) = 0;
  // About once a second, on the worker's own thread.
  virtual void on_second(size_t worker, const WorkerCounters& counters) = 0;
  // A stop was requested, and is asked for until this says yes; on the first worker's thread, which
  // goes on meanwhile. Must not block.
  virtual bool may_stop() { return true; }
  // Workers::interrupt() has stopped them all. False: the run ends.
  virtual bool goes_on() { return true; }
  // Packets flow no more; no request may be posted to the workers any longer.
  virtual void end() = 0;
  // What the run did, while the workers' states are still there.
  virtual void finish(RunTotals totals) = 0;
};

// Captures are looked at before DPDK starts. An error: it could not start, or not go on.
[[nodiscard]] std::optional<Error> run_on_ports(const RunConfig& config, const RunOptions& options,
                                                RunFunction& function);

// What devices say they lost, by port; any thread but a worker's may ask them.
void read_devices(std::span<const io::Port> ports, std::span<PortTotals> totals);
[[nodiscard]] std::vector<std::string> device_names(std::span<const io::Port> ports);

}  // namespace roost::node

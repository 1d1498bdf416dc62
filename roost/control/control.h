// The control plane of a running function: what its commands do. Every face (socket, metrics,
// telemetry) comes here.
//
// It knows the configuration and what was changed since, and gets the rest from the workers by
// requests. A change goes to all workers; one that does not answer in time makes it an error, and
// the same command again is safe. A function derives its own from this one, with its commands.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "roost/control/ask_workers.h"
#include "roost/control/commands.h"
#include "roost/control/event_log.h"
#include "roost/control/sample_request.h"
#include "roost/control/worker_handle.h"

namespace roost::control {

class Control {
 public:
  struct Config {
    std::string function{};               // as messages name it: "balancer"
    std::span<const Command> commands{};  // all that it runs; they outlive it
    std::vector<WorkerHandle> workers{};  // worker i has mailbox i
    node::WorkerMailboxes* mailboxes = nullptr;
    // What devices say they lost, by port; called on the control thread.
    std::function<void(std::span<node::PortTotals>)> read_devices =
        [](std::span<node::PortTotals>) {};
    std::string io_version{};
    std::string config_path{};  // what reload() reads
    // The command `trace`, which needs more than requests; none: it is refused.
    std::function<Result<Json>(const Json& parameters)> trace{};
    std::function<void()> on_reload{};  // after a new configuration was taken, on that thread
    bool is_replay = false;             // of captures: nobody outside is told of it
    TellEvent tell = [](Severity, std::string_view) {};
  };

  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  virtual ~Control() = default;

  // Any thread but a worker's; commands run one at a time. Takes at most some seconds.
  [[nodiscard]] Result<Json> run(const Json& request);

  // The same for text: a line of JSON in, a line out: {"result": ..., "view": ...}, or
  // {"error": "..."}. The view says how to show the result as tables (view.h).
  [[nodiscard]] std::string answer(std::string_view request);

  // Takes the configuration that the file says now, or, if anything is wrong with it, changes
  // nothing. Every fault is a line of the error. Any thread but a worker's.
  [[nodiscard]] Result<Json> reload();

  // What a function does twice a second while its workers run, on a thread of control.
  virtual void look() {}

  [[nodiscard]] std::span<const Command> commands() const { return config_.commands; }
  [[nodiscard]] std::span<const WorkerHandle> workers() const { return config_.workers; }
  [[nodiscard]] node::WorkerMailboxes& mailboxes() { return *config_.mailboxes; }
  [[nodiscard]] const TellEvent& tell() const { return config_.tell; }

 protected:
  // What the configuration points to must outlive the control.
  explicit Control(Config config) : config_(std::move(config)) {}

  // A command that is the function's own. The lock is held.
  virtual Result<Json> run_own(const ParsedRequest& request) = 0;
  // Reads the file, and has all workers take it or none. The lock is held.
  virtual Result<Json> take_file() = 0;
  // What taking it changed, in a sentence for the log.
  [[nodiscard]] virtual std::string taken_text(const Json& taken) const = 0;
  // How many addresses are advertised, own ones of ports included; of a function that has any.
  [[nodiscard]] virtual size_t advertised_count() const { return 0; }

  // All workers, or an error that names the one that did not answer.
  [[nodiscard]] std::optional<Error> ask(std::span<node::Request* const> requests) {
    return ask_workers(*config_.mailboxes, requests).error(config_.function);
  }
  // What the workers' answers leave out: devices, time, reloads, and the ports' sums.
  void complete(RunReport& report) const;

  // How often the file has been taken so far.
  [[nodiscard]] uint64_t reloads() const { return reloads_.taken; }

  std::mutex mutex_;
  Config config_;

 private:
  Result<Json> run_command(const ParsedRequest& request);
  Result<Json> neighbours(const Json& parameters);
  Result<Json> announce();
  [[nodiscard]] Json version() const;
  void tell_reload(const Result<Json>& outcome) const;

  ReloadCounters reloads_{};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace roost::control

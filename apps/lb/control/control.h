// The control plane of a running load balancer: what the commands of command_list.h do. Every face
// (socket, metrics, telemetry) comes here.
//
// It knows the configuration and what was changed since, and asks the workers for the rest by
// requests. A change goes to all workers; one that does not answer in time makes it an error, and
// the same command again is safe. A new configuration goes to all of them or to none.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/control/command_list.h"
#include "apps/lb/control/control_requests.h"
#include "roost/base/result.h"
#include "roost/control/event_log.h"
#include "roost/control/event_watch.h"
#include "roost/node/mailbox.h"

namespace roost::lb {

class Control {
 public:
  struct Config {
    std::vector<ControlledWorker> workers{};  // worker i has mailbox i of the room
    node::Mailroom* room = nullptr;
    // What devices say they lost, by port; asked on the control thread.
    std::function<void(std::span<node::PortTotals>)> read_devices{};
    std::string io_version{};
    std::string config_path{};  // what reload() reads
    // The command `trace`, which needs more than requests; none: it is refused.
    std::function<Result<Json>(const Json& parameters)> trace{};
    // Called once, on a thread of control, before anybody asks.
    std::function<std::optional<Error>()> begin{};
    std::function<void()> on_reload{};  // after a new configuration was taken, on that thread
    control::TellEvent tell = [](control::Severity, std::string_view) {};
    std::function<std::vector<control::PortLink>()> read_links = [] {
      return std::vector<control::PortLink>();
    };
  };

  // What the configuration points to must outlive the control.
  Control(const lb::Config& lb_config, Config config);

  // Any thread but a worker's; one at a time is heard. Takes at most some seconds.
  [[nodiscard]] Result<Json> run(const Json& request);

  // Takes the configuration that the file says now, or, if anything is wrong with it, changes
  // nothing. Every fault is a line of the error. Any thread but a worker's.
  [[nodiscard]] Result<Json> reload();

  // A backend that is checked, for as long as no other configuration is taken.
  struct CheckedBackend {
    size_t family = 0;
    uint32_t slot = 0;
    uint64_t reloads = 0;
    net::IpAddress address{};
    uint16_t port = 0;  // where it is checked
    CheckConfig check{};
    bool is_well = true;
  };
  [[nodiscard]] std::vector<CheckedBackend> checked_backends();

  // Its checks say that a backend is well, or not. An error: not every worker knows it.
  [[nodiscard]] std::optional<Error> set_health(const CheckedBackend& backend, bool is_well);

  // The same for text: a line of JSON in, a line out: {"result": ...} or {"error": "..."}.
  [[nodiscard]] std::string answer(std::string_view request);

  // Every number, of all workers together, in the form of the report at the end of a run.
  struct Sample {
    Report report{};
    struct Worker {
      unsigned core = 0;
      node::RunTotals totals{};
      FlowCounts flows{};
      std::array<TableSample, 2> tables{};
    };
    std::vector<Worker> workers{};
    Layout layout{};
    uint64_t reloads = 0;
    uint64_t reloads_refused = 0;
  };
  [[nodiscard]] Result<Sample> sample();

  // Whether a backend gets new connections, and why not.
  struct BackendState {
    bool is_drained = false;
    bool is_down = false;
    bool is_failing = false;  // by its health checks

    [[nodiscard]] bool is_up() const { return !is_drained && !is_down && !is_failing; }
  };

 private:
  // A worker's turn takes microseconds; seconds pass when something is wrong, or a walk is long.
  static constexpr std::chrono::seconds kAnswerWaitMax{5};

  Result<Json> run_command(const control::ParsedRequest& request);
  Result<Json> stats();
  Result<Json> services();
  Result<Json> backends(const Json& parameters);
  Result<Json> workers();
  Result<Json> version() const;
  Result<Json> timeouts(const Json& parameters);
  Result<Json> backend(const Json& parameters);
  Result<Json> neighbours(const Json& parameters);
  Result<Json> announce();
  Result<Json> flows(const Json& parameters);
  Result<Json> list_flows(const Json& parameters, const FlowFilter& filter);
  Result<Json> walk_flows(FlowsRequest::Action action, const FlowFilter& filter);

  Result<Sample> take_sample();
  [[nodiscard]] Result<FlowFilter> filter_of(const Json& parameters) const;
  [[nodiscard]] Json row_json(size_t worker, size_t family, const FlowRow& row) const;
  [[nodiscard]] uint32_t weight_of(size_t family, uint32_t slot) const;
  [[nodiscard]] Result<SetWeightsRequest::Change> change_of(const Layout::Place& place);
  std::optional<Error> apply(const std::vector<SetWeightsRequest::Change>& changes);
  // "backend b2 of web (10.0.0.12:8080)", as events name it.
  [[nodiscard]] std::string words_of(size_t family, uint32_t slot) const;
  std::optional<Error> ask_all(std::span<node::Request* const> requests);
  std::optional<Error> ask_until_all_have(std::vector<node::Request*> requests);

  using BackendStates = std::array<std::vector<BackendState>, 2>;  // by family and slot

  Result<Json> take_file();
  void tell_reload(const Result<Json>& outcome) const;
  Result<Json> take(const lb::Config& file);
  [[nodiscard]] BackendStates states_after(const lb::Config& file, const Layout& layout) const;
  Result<std::deque<UpdateRequest>> make_updates(const lb::Config& config, const Layout& layout);

  std::mutex mutex_;
  lb::Config lb_config_;
  Config config_;
  std::array<bool, 2> has_tables_{};  // by family: it began with services
  Layout layout_;                     // what all workers have
  BackendStates backend_states_;
  uint64_t reloads_ = 0;
  uint64_t reloads_refused_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

[[nodiscard]] std::string_view connection_state_name(ConnectionState state);

}  // namespace roost::lb

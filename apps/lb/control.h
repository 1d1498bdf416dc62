// The control plane of a running load balancer: what the commands of command_list.h do. Every face
// (socket, metrics, telemetry) comes here.
//
// It knows the configuration and what was changed since, and asks the workers for the rest by
// requests. A change goes to all workers; one that does not answer in time makes it an error, and
// the same command again is safe.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/command_list.h"
#include "apps/lb/config.h"
#include "apps/lb/control_requests.h"
#include "roost/base/result.h"
#include "roost/node/mailbox.h"

namespace roost::lb {

class Control {
 public:
  struct Config {
    std::vector<ControlledWorker> workers{};  // worker i has mailbox i of the room
    node::Mailroom* room = nullptr;
    // What devices say they lost, by port; asked on the control thread.
    std::function<void(std::span<PortTotals>)> read_devices{};
    std::string io_version{};
    // The command `trace`, which needs more than requests; none: it is refused.
    std::function<Result<Json>(const Json& parameters)> trace{};
    // Called once, on a thread of control, before anybody asks.
    std::function<std::optional<Error>()> begin{};
  };

  // What the configuration points to must outlive the control.
  Control(const lb::Config& lb_config, Config config);

  // Any thread but a worker's; one at a time is heard. Takes at most some seconds.
  [[nodiscard]] Result<Json> run(const Json& request);

  // A backend's health checks say that it is well, or not; both as in the configuration. An error:
  // not every worker knows it.
  [[nodiscard]] std::optional<Error> set_health(size_t service, size_t backend, bool is_well);

  // The same for text: a line of JSON in, a line out: {"result": ...} or {"error": "..."}.
  [[nodiscard]] std::string answer(std::string_view request);

  // Every number, of all workers together, in the form of the report at the end of a run.
  struct Sample {
    Report report{};
    struct Worker {
      unsigned core = 0;
      RunTotals totals{};
      FlowCounts flows{};
      std::array<TableSample, 2> tables{};
    };
    std::vector<Worker> workers{};
    std::vector<std::vector<uint32_t>> weights{};  // in force, by service and backend
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
  // Where a service's backends stand in its family's ServiceTable.
  struct ServicePlace {
    size_t family = 0;
    uint32_t service = 0;
    uint32_t first_backend = 0;
  };

  Result<Json> run_command(const ParsedRequest& request);
  Result<Json> stats();
  Result<Json> services();
  Result<Json> backends(const Json& parameters);
  Result<Json> workers();
  Result<Json> version() const;
  Result<Json> timeouts(const Json& parameters);
  Result<Json> backend(const Json& parameters);
  Result<Json> neighbours(const Json& parameters);
  Result<Json> flows(const Json& parameters);
  Result<Json> list_flows(const Json& parameters, const FlowFilter& filter);
  Result<Json> walk_flows(FlowsRequest::Action action, const FlowFilter& filter);

  Result<Sample> take_sample();
  [[nodiscard]] Result<FlowFilter> filter_of(const Json& parameters) const;
  [[nodiscard]] Json row_json(size_t worker, size_t family, const FlowRow& row) const;
  [[nodiscard]] Result<SetWeightsRequest::Change> change_of(size_t service) const;
  [[nodiscard]] uint32_t weight_of(size_t service, size_t backend) const;
  [[nodiscard]] std::pair<size_t, size_t> find_backend(size_t family, uint32_t index) const;
  std::optional<Error> apply(const std::vector<SetWeightsRequest::Change>& changes);
  std::optional<Error> ask_all(std::span<node::Request* const> requests);

  std::mutex mutex_;
  lb::Config lb_config_;
  Config config_;
  std::vector<ServicePlace> places_;                       // by service of the configuration
  std::array<uint32_t, 2> backend_counts_{};               // of each family
  std::vector<std::vector<BackendState>> backend_states_;  // by service and backend
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

[[nodiscard]] std::string_view connection_state_name(ConnectionState state);

}  // namespace roost::lb

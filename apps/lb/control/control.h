// The control plane of a running load balancer: what its own commands of command_list.h do. A new
// configuration goes to all workers or to none.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/control/command_list.h"
#include "apps/lb/control/control_requests.h"
#include "roost/base/result.h"
#include "roost/control/connection_walk.h"
#include "roost/control/control.h"

namespace roost::lb {

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const lb::Config& lb_config, control::Control::Config config, std::vector<State*> states);

  // A backend that is checked, for as long as no other configuration is taken.
  struct CheckedBackend {
    size_t family = 0;
    uint32_t index = 0;
    uint64_t reloads = 0;
    net::IpAddress address{};  // where it is checked
    uint16_t port = 0;
    uint32_t mark = 0;  // by which checks go to it; 0: by its address
    CheckConfig check{};
    bool is_well = true;
    std::string failure{};  // why, if it is not
  };
  [[nodiscard]] std::vector<CheckedBackend> checked_backends();

  // Its checks say that a backend is well, or not, and why. An error: not every worker knows it.
  [[nodiscard]] std::optional<Error> set_health(const CheckedBackend& backend, bool is_well,
                                                const std::string& failure);

  // Every number, of all workers together, in the form of the report at the end of a run.
  struct Sample {
    Report report{};
    struct Worker {
      FlowCounts flows{};
      std::array<TableSample, 2> tables{};
    };
    std::vector<Worker> workers{};
    BackendRegistry registry{};
  };
  // Any thread but a worker's.
  [[nodiscard]] Result<Sample> sample();

  // Whether a backend gets new connections, and why not.
  struct BackendState {
    bool is_drained = false;
    bool is_down = false;
    bool is_failing = false;  // by its health checks
    std::string failure{};    // why, in their words

    [[nodiscard]] bool is_up() const { return !is_drained && !is_down && !is_failing; }
  };

 private:
  Result<Json> run_own(const control::ParsedRequest& request) override;
  Result<Json> take_file() override;
  [[nodiscard]] std::string taken_text(const Json& taken) const override;
  [[nodiscard]] size_t advertised_count() const override;

  Result<Json> stats();
  Result<Json> services();
  Result<Json> backends(const Json& parameters);
  Result<Json> workers();
  Result<Json> timeouts(const Json& parameters);
  Result<Json> backend(const Json& parameters);
  Result<Json> flows(const Json& parameters);

  Result<Sample> take_sample();
  void describe(const control::ConnectionRow& row, Json& json) const;
  [[nodiscard]] Result<SetWeightsRequest::Change> change_of(const BackendRegistry::Place& place);
  void tell_fallback(const BackendRegistry& before);
  std::optional<Error> apply(const std::vector<SetWeightsRequest::Change>& changes);
  // "backend b2 of web (10.0.0.12:8080)", as events name it.
  [[nodiscard]] std::string words_of(size_t family, uint32_t index) const;

  using BackendStates = std::array<std::vector<BackendState>, 2>;  // by family and index

  Result<Json> take(const lb::Config& file);
  [[nodiscard]] BackendStates states_after(const lb::Config& file,
                                           const BackendRegistry& registry) const;
  Result<control::Requests<UpdateRequest>> make_updates(const lb::Config& config,
                                                        const BackendRegistry& registry);

  lb::Config lb_config_;
  std::vector<State*> states_;        // by worker
  std::array<bool, 2> has_tables_{};  // by family: it began with services
  BackendRegistry registry_;          // what all workers have
  BackendStates backend_states_;
};

}  // namespace roost::lb

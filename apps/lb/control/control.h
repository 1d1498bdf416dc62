// The control plane of a running load balancer: what its own commands of command_list.h do. A new
// configuration goes to all workers or to none.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/control/backend_state.h"
#include "apps/lb/control/command_list.h"
#include "apps/lb/control/control_requests.h"
#include "apps/lb/control/node_status.h"
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
    NodeStatus node{};
  };
  // Any thread but a worker's.
  [[nodiscard]] Result<Sample> sample();

  // Makes these virtual addresses, and no others, those that routers are told of.
  using Announce = std::function<std::optional<Error>(const std::vector<net::IpAddress>&)>;
  // From now on, until `leave()`. An error: not all that should be are. `announced`: addresses that
  // are already, by a process that went before and had heard of the store.
  [[nodiscard]] std::optional<Error> begin_announcing(
      Announce announce, const std::vector<net::IpAddress>& announced = {});
  // Withdraws all of them, for good: packets still come for a while.
  void leave();

  // There is a store; nothing is announced until it was heard of.
  void await_store();
  // Takes what it says, or nothing of it. False: workers did not answer, and the same again is
  // safe.
  [[nodiscard]] bool take_store(int64_t revision, const std::map<std::string, std::string>& keys);
  // It cannot be read; what it said last stays in force.
  void note_store_away(const std::string& reason);

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
  Result<Json> node(const Json& parameters);

  Result<Sample> take_sample();
  void describe(const control::ConnectionRow& row, Json& json) const;
  [[nodiscard]] Result<SetWeightsRequest::Change> change_of(const BackendRegistry::Place& place);
  void tell_fallback(const BackendRegistry& before);
  std::optional<Error> apply(const std::vector<SetWeightsRequest::Change>& changes);
  // "backend b2 of web (10.0.0.12:8080)", as events name it.
  [[nodiscard]] std::string words_of(size_t family, uint32_t index) const;

  [[nodiscard]] std::set<net::IpAddress> usable_addresses() const;
  [[nodiscard]] std::string withdrawn_reason(const net::IpAddress& address) const;
  void announce_anew();
  [[nodiscard]] NodeStatus node_status() const;
  void tell_store_taken(int64_t revision) const;
  void note_store_faults(std::vector<std::string> faults);
  // For a process that takes over, if there can be one: what is said of backends now.
  [[nodiscard]] std::optional<Error> note_roster() const;

  // What comes to a file's services.
  struct Beside {
    StoreSettings settings{};
    bool is_reload = true;  // stations are told of the addresses
  };
  Result<Json> take(const lb::Config& file, Beside beside);
  Result<control::Requests<UpdateRequest>> make_updates(const lb::Config& config,
                                                        const BackendRegistry& registry,
                                                        bool is_reload);

  lb::Config lb_config_;                      // in force, with the store's weights
  std::vector<ServiceConfig> file_services_;  // as the file has them
  std::vector<State*> states_;                // by worker
  std::array<bool, 2> has_tables_{};          // by family: it began with services
  BackendRegistry registry_;                  // what all workers have
  BackendStates backend_states_;

  Announce announce_{};  // none: routers are told by nobody
  NodeState node_state_ = NodeState::kServing;
  std::set<net::IpAddress> announced_;
  std::string announce_failure_;
  StoreStatus store_;
  std::map<std::string, std::string> store_keys_;  // as they were read last
  std::optional<int64_t> store_keys_revision_;     // theirs, if any were
  StoreSettings settings_;                         // in force
};

}  // namespace roost::lb

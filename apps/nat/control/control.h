// The control plane of a running NAT: mappings and connections are shown, and forwards, routes and
// timeouts taken anew.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/nat/config/config.h"
#include "apps/nat/control/report.h"
#include "apps/nat/datapath/state.h"
#include "roost/base/result.h"
#include "roost/control/connection_walk.h"
#include "roost/control/control.h"

namespace roost::nat {

[[nodiscard]] std::span<const control::Command> command_list();

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const nat::Config& nat_config, control::Control::Config config,
          std::vector<State*> states)
      : control::Control(std::move(config)), running_(nat_config), states_(std::move(states)) {}

  // Of a run that goes on. Any thread but a worker's.
  [[nodiscard]] Result<Report> sample();

 private:
  using Json = control::Json;

  [[nodiscard]] size_t advertised_count() const override;
  [[nodiscard]] std::string taken_text(const Json& taken) const override;
  Result<Json> take_file() override;
  Result<Json> run_own(const control::ParsedRequest& request) override;

  Result<Report> take_sample();
  [[nodiscard]] Result<Json> flows(const Json& parameters);
  [[nodiscard]] std::optional<Error> exchange(const nat::Config& file);

  nat::Config running_;
  std::vector<State*> states_;
};

}  // namespace roost::nat

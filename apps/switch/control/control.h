// The control plane of a running switch: its ports, VLANs and forwarding database, shown and
// changed, and its configuration, taken anew.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/switch/config/config.h"
#include "apps/switch/control/report.h"
#include "apps/switch/datapath/state.h"
#include "roost/base/result.h"
#include "roost/control/control.h"

namespace roost::switching {

[[nodiscard]] std::span<const control::Command> command_list();

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const switching::Config& switch_config, control::Control::Config config,
          std::vector<State*> states);

  // Of a run that goes on. Any thread but a worker's.
  [[nodiscard]] Result<Report> sample();

 private:
  using Json = control::Json;

  Result<Json> run_own(const control::ParsedRequest& request) override;
  Result<Json> take_file() override;
  [[nodiscard]] std::string taken_text(const Json& taken) const override;

  Result<Report> take_sample();
  [[nodiscard]] Result<Json> ports();
  [[nodiscard]] Json vlans() const;
  [[nodiscard]] Result<Json> moves();

  [[nodiscard]] Result<Json> fdb(const Json& parameters);

  // control_reload.cc
  [[nodiscard]] std::optional<Error> check_static_room(const switching::Config& file);
  [[nodiscard]] uint64_t flush_what_is_not_allowed();
  void take_stations(const std::vector<StationConfig>& before,
                     const std::vector<StationConfig>& after);

  [[nodiscard]] bridge::Fdb& database() { return states_.front()->shared().fdb; }
  [[nodiscard]] size_t port_count() const { return switch_config_.ports.size(); }

  switching::Config switch_config_;
  std::shared_ptr<const bridge::SwitchRules> rules_;  // what all workers have
  std::vector<State*> states_;
};

}  // namespace roost::switching

// The control plane of a running firewall: its rules and connections, shown and changed, and its
// log.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/firewall/config/config.h"
#include "apps/firewall/control/report.h"
#include "apps/firewall/datapath/state.h"
#include "roost/base/result.h"
#include "roost/control/control.h"

namespace roost::firewall {

[[nodiscard]] std::span<const control::Command> command_list();

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const firewall::Config& own_config, control::Control::Config config,
          std::vector<State*> states);

  // Of a run that goes on. Any thread but a worker's.
  [[nodiscard]] Result<Report> sample() {
    const std::scoped_lock lock(mutex_);
    return take_sample();
  }
  // Writes what rules with `log` have decided.
  void look() override;
  // The same of what is left when the workers have ended.
  void write_rest();

 private:
  Result<control::Json> run_own(const control::ParsedRequest& request) override;
  Result<control::Json> take_file() override;
  [[nodiscard]] std::string taken_text(const control::Json& taken) const override;
  [[nodiscard]] size_t advertised_count() const override;

  void write_log();
  void write_log(std::span<const acl::DecisionRecord> records);
  Result<Report> take_sample();
  [[nodiscard]] Result<control::Json> connections(const control::Json& parameters);

  firewall::Config own_config_;
  std::vector<State*> states_;
};

}  // namespace roost::firewall

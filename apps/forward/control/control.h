// The control plane of a running router: routes are shown, and exchanged by a reload.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/forward/config/config.h"
#include "apps/forward/control/report.h"
#include "apps/forward/datapath/state.h"
#include "roost/base/result.h"
#include "roost/control/control.h"

namespace roost::forward {

[[nodiscard]] std::span<const control::Command> command_list();

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const forward::Config& forward_config, control::Control::Config config,
          std::vector<State*> states);

  // Of a run that goes on. Any thread but a worker's.
  [[nodiscard]] Result<Report> sample();

 private:
  Result<control::Json> run_own(const control::ParsedRequest& request) override;
  Result<control::Json> take_file() override;
  [[nodiscard]] std::string taken_text(const control::Json& taken) const override;
  [[nodiscard]] size_t advertised_count() const override;

  Result<Report> take_sample();

  forward::Config forward_config_;
  std::vector<State*> states_;
  std::shared_ptr<const routing::RoutingTable> table_;  // what all workers have
};

}  // namespace roost::forward

// The control plane of a running observer: its hosts, shown, and its configuration, taken anew.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/assets/config/config.h"
#include "apps/assets/control/asset_log.h"
#include "apps/assets/control/asset_requests.h"
#include "apps/assets/control/report.h"
#include "roost/control/control.h"

namespace roost::assets {

[[nodiscard]] std::span<const control::Command> command_list();

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const assets::Config& own_config, control::Control::Config config,
          std::vector<Observer*> states);

  // Of a run that goes on. Any thread but a worker's.
  [[nodiscard]] Result<Report> sample();
  // Once, when requests are taken.
  [[nodiscard]] std::optional<Error> start_log() { return log_.start(); }

 private:
  using Json = control::Json;
  struct Page;

  Result<Json> run_own(const control::ParsedRequest& request) override;
  Result<Json> take_file() override;
  [[nodiscard]] std::string taken_text(const Json& taken) const override;

  Result<Report> take_sample();
  // A page's cursor is "worker.place": where it goes on.
  [[nodiscard]] Result<Json> assets(const Json& parameters);
  // Goes on with a worker's hosts, which lower workers have not.
  [[nodiscard]] std::optional<Error> fill(Page& page);

  assets::Config own_config_;
  std::vector<Observer*> states_;
  TickTime time_;
  AssetLog log_;
};

}  // namespace roost::assets

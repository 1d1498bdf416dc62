// `roost trafficgen`: no function that packets pass through, so it has a command line of its own.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace roost::program {

class TrafficgenCommand {
 public:
  // Adds the subcommand to `app`, which must not outlive this object.
  explicit TrafficgenCommand(CLI::App& app);
  TrafficgenCommand(const TrafficgenCommand&) = delete;
  TrafficgenCommand& operator=(const TrafficgenCommand&) = delete;

  [[nodiscard]] bool is_parsed() const { return app_->parsed(); }
  // Returns an exit status of exit_status.h.
  [[nodiscard]] int run(const std::vector<std::string>& eal_arguments) const;

 private:
  CLI::App* app_;
  std::string config_path_;
  bool check_only_ = false;
  bool json_ = false;
  std::string search_;
  std::string capture_path_;
};

}  // namespace roost::program

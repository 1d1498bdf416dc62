// `roost advise`: asks no network function and starts none, so it has a command line of its own.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/advise/advice.h"
#include "apps/advise/report.h"
#include "apps/advise/survey.h"

namespace roost::program {

class AdviseCommand {
 public:
  // Adds the subcommand to `app`, which must not outlive this object.
  explicit AdviseCommand(CLI::App& app);
  AdviseCommand(const AdviseCommand&) = delete;
  AdviseCommand& operator=(const AdviseCommand&) = delete;

  [[nodiscard]] bool is_parsed() const { return app_->parsed(); }
  // Throws CLI::RequiredError.
  void require_load() const;
  // Returns an exit status of exit_status.h.
  [[nodiscard]] int run() const;

 private:
  // What a capture asks for, or the numbers that were given; `timeouts` become those of the
  // capture.
  [[nodiscard]] Result<advise::Workload> find_workload(advise::TimeoutSeconds& timeouts,
                                                       std::optional<advise::Survey>& survey) const;
  void apply_timeouts(advise::TimeoutSeconds& timeouts) const;
  [[nodiscard]] int finish(const advise::Advice& advice, const advise::Findings& findings) const;
  [[nodiscard]] int write_toml(const std::string& toml) const;

  CLI::App* app_;
  std::string capture_path_;
  uint64_t followed_max_ = 4'000'000;
  advise::Workload workload_{};
  std::vector<std::string> timeouts_;
  std::optional<uint64_t> memory_bytes_;
  std::string family_ = "ipv4";
  std::string mode_ = "nat";
  std::string toml_path_;
  bool measure_ = false;
  bool json_ = false;
};

}  // namespace roost::program

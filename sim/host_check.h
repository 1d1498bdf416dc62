// How far the simulator was from a machine that it could be measured on (host_check.toml, which
// lab/2019-halo/host.py writes of a record; docs/decisions/0060).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/config/toml_file.h"

namespace roost::sim {

struct HostPoint {
  std::string name{};
  std::string standing{};  // "independent", "after a trial", "finds" and a number
  double measured_ns = 0;
  double predicted_ns = 0;

  [[nodiscard]] double ratio() const { return predicted_ns / measured_ns; }
  // It could not be off: a number of the machine was set by it.
  [[nodiscard]] bool finds_a_number() const { return standing.starts_with("finds"); }
};

struct HostCheck {
  std::string machine{};
  std::string date{};
  std::vector<HostPoint> points{};

  // The floor under every speed-up: the point whose ratio is farthest from 1, of those that find no
  // number. nullptr if there is none.
  [[nodiscard]] const HostPoint* worst() const;
};

// Faults: not TOML, something missing, unknown or out of range.
[[nodiscard]] config::Outcome<HostCheck> parse_host_check(std::string_view text);

// The file that is compiled in, and what it says.
[[nodiscard]] std::string_view host_check_text();
[[nodiscard]] const HostCheck& host_check();

}  // namespace roost::sim

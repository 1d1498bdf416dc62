// `roost ctl`: sends a request to a running function, and prints its answer.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace roost::ctl {

// Exit statuses: an interface for scripts, listed in apps/lb/README.md.
inline constexpr int kExitRefused = 1;   // the balancer says why not
inline constexpr int kExitNoAnswer = 4;  // no process answers at the socket

struct CtlOptions {
  std::string socket{};
  bool json = false;  // print the result as it came
  nlohmann::ordered_json request{};
};

[[nodiscard]] int run_ctl(const CtlOptions& options);

}  // namespace roost::ctl

// `roost ctl`: sends a request to a running function, and prints its answer.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace roost::ctl {

// Exit statuses: an interface for scripts, listed in `man/roost-ctl.8`.
inline constexpr int kExitRefused = 1;   // the function says why not
inline constexpr int kExitNoAnswer = 4;  // no process answers, or it is open which one to ask

struct CtlOptions {
  std::string socket{};  // empty: the only one of kSocketFolder
  bool json = false;     // print the result as it came
  nlohmann::ordered_json request{};
};

[[nodiscard]] int run_ctl(const CtlOptions& options);

}  // namespace roost::ctl

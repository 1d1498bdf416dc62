// Asks backends whether they are well, from outside the datapath: over the kernel's own sockets, in
// a thread of its own (docs/decisions/0032-health-checks.md). The check's kind says what it asks
// for, and which answers are good.
//
// One bad answer proves nothing: a target falls after `fall` bad ones in a row, and rises after
// `rise` good ones. A target is taken for what it is said to be until then.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "roost/control/check_kind.h"
#include "roost/net/address.h"

namespace roost::control {

struct HealthTarget {
  net::IpAddress address{};
  uint16_t port = 0;
  uint32_t mark = 0;  // of the sockets, by which the kernel chooses a route; 0: none
  CheckKind kind{};
  std::chrono::milliseconds interval{5'000};
  std::chrono::milliseconds timeout{2'000};  // of one check, from its beginning to its end
  uint32_t rise = 2;
  uint32_t fall = 3;
  bool is_well = true;    // what it is taken for at first
  std::string failure{};  // why, if it is not
};

class HealthChecker {
 public:
  // Called on the checker's thread when a target has fallen or risen, and when one that is not well
  // fails for another reason than before; while it returns false, it is called again after each
  // check. `failure` is why the latest check was bad: "Connection refused"; empty if all is well.
  using OnChange = std::function<bool(size_t target, bool is_well, const std::string& failure)>;

  // Checks from now on, not all targets at the same time.
  HealthChecker(std::vector<HealthTarget> targets, OnChange on_change);
  HealthChecker(const HealthChecker&) = delete;
  HealthChecker& operator=(const HealthChecker&) = delete;
  ~HealthChecker();  // waits for a call that is under way

 private:
  class Checks;
  std::unique_ptr<Checks> checks_;
};

}  // namespace roost::control

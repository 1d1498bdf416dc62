// Asks backends whether they are well, from outside the datapath: over the kernel's own sockets, in
// a thread of its own. A backend is well when a TCP connection is made, or when an HTTP request is
// answered with a status from 200 to 399.
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

#include "roost/net/address.h"

namespace roost::control {

struct HealthTarget {
  net::IpAddress address{};
  uint16_t port = 0;
  std::string http_path{};  // empty: a connection is enough
  std::chrono::milliseconds interval{5'000};
  std::chrono::milliseconds timeout{2'000};  // of one check; less than the interval
  uint32_t rise = 2;
  uint32_t fall = 3;
  bool is_well = true;  // what it is taken for at first
};

class HealthChecker {
 public:
  // Called on the checker's thread when a target has fallen or risen; while it returns false, it is
  // called again after each check.
  using OnChange = std::function<bool(size_t target, bool is_well)>;

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

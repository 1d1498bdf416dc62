// One health check under way, of whatever kind.
#pragma once

#include <functional>
#include <string>

namespace roost::control {

// Destroying it ends it, and then nothing is said any more. One thread: the checker's.
class CheckAttempt {
 public:
  CheckAttempt() = default;
  CheckAttempt(const CheckAttempt&) = delete;
  CheckAttempt& operator=(const CheckAttempt&) = delete;
  virtual ~CheckAttempt() = default;
};

// What came of it, called once and never by whoever begins it: empty if the answer was good, else
// why not: "Connection refused". It may destroy the attempt.
using CheckDone = std::function<void(std::string failure)>;

}  // namespace roost::control

// Whether connections stay with their backends: counts each packet that went elsewhere than its
// connection's first one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/lb/test_balancer.h"

namespace roost::lb {

// ADDRESS:PORT that a forwarded frame goes to; for a dropped one, its cause.
[[nodiscard]] inline std::string endpoint_of(const Fate& fate) {
  if (fate.cause) return std::string(drop_cause_name(*fate.cause));
  const Ends ends = read_ends(fate.frame);
  return ends.destination + ":" + std::to_string(ends.destination_port);
}

class ConsistencyChecker {
 public:
  void note(const std::string& connection, const Fate& fate) {
    const auto [place, is_first] = endpoints_.emplace(connection, endpoint_of(fate));
    if (!is_first && place->second != endpoint_of(fate)) ++violations_;
  }
  [[nodiscard]] const std::string& endpoint(const std::string& connection) const {
    return endpoints_.at(connection);
  }
  [[nodiscard]] uint64_t violations() const { return violations_; }

 private:
  std::map<std::string, std::string> endpoints_;
  uint64_t violations_ = 0;
};

}  // namespace roost::lb

// What happens to backends while connections come and go.
//
// Backends have numbers that last: 0 to count - 1 are there at the beginning, others come. The
// balancer's list is what it knows: a backend that is drained stands there with weight 0, one that
// fails does so too from when that is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "roost/balance/weighted_backend.h"

namespace roost::lab {

enum class Change : uint8_t {
  kLeave,    // is taken out of the list; it still serves the connections that it has
  kCome,     // is there from now on
  kWeigh,    // has another weight; 0 drains it
  kFail,     // loses its connections and answers nothing
  kRecover,  // answers again, and knows no connection of before
  kRestart,  // the balancer itself: it knows the list at hand and nothing else
};

struct BackendEvent {
  double at = 0;  // share of the stream's time
  Change change = Change::kLeave;
  size_t backend = 0;
  uint32_t weight = 0;  // of kCome and kWeigh
};

struct Scenario {
  std::string name;
  uint32_t weight = 1;  // of each backend at the beginning
  std::vector<BackendEvent> events{};
};

// leave, come, fail, weights, rolling (one backend after the other is drained, begins anew and
// returns) and restart (of the balancer, after two changes).
[[nodiscard]] std::vector<Scenario> scenarios(size_t backend_count);

// The backends of a scenario at a time.
class Backends {
 public:
  Backends(size_t count, const Scenario& scenario);

  // Whether the list is another one now.
  bool apply(const BackendEvent& event);

  // What the balancer knows, and which backend each of the list is.
  [[nodiscard]] const std::vector<balance::WeightedBackend>& list() const { return list_; }
  [[nodiscard]] const std::vector<size_t>& numbers() const { return numbers_; }
  // How often a backend has failed: a connection of before is none any more.
  [[nodiscard]] unsigned failures(size_t backend) const { return states_[backend].failures; }
  [[nodiscard]] bool is_up(size_t backend) const { return states_[backend].is_up; }
  [[nodiscard]] bool is_listed(size_t backend) const { return states_[backend].is_listed; }
  [[nodiscard]] uint32_t weight(size_t backend) const { return states_[backend].weight; }
  // How many there ever are.
  [[nodiscard]] size_t count() const { return states_.size(); }

 private:
  struct State {
    uint32_t weight = 0;
    unsigned failures = 0;
    bool is_up = true;
    bool is_listed = false;
  };

  void make_list();

  std::vector<State> states_;
  std::vector<balance::WeightedBackend> list_;
  std::vector<size_t> numbers_;
};

}  // namespace roost::lab

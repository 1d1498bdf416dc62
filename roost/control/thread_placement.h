// Where threads run that are no workers. A thread inherits its processors from the one that makes
// it, and a worker is bound to one; a thread made by it would take that core's time from it.
#pragma once

#include <sched.h>

#include <span>

namespace roost::control {

// While it lives, the calling thread, and every thread that it makes, may run on the given
// processors except those of workers; on all of the given ones if no other is left.
class ControlPlacement {
 public:
  ControlPlacement(const cpu_set_t& allowed, std::span<const unsigned> worker_cores);
  ControlPlacement(const ControlPlacement&) = delete;
  ControlPlacement& operator=(const ControlPlacement&) = delete;
  ~ControlPlacement();  // the calling thread runs where it did before

 private:
  cpu_set_t before_;
};

// Those of the calling thread; to be called before DPDK binds it to one.
[[nodiscard]] cpu_set_t allowed_processors();

}  // namespace roost::control

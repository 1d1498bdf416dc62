#include "roost/control/thread_placement.h"

#include <pthread.h>

namespace roost::control {

ControlPlacement::ControlPlacement(const cpu_set_t& allowed, std::span<const unsigned> worker_cores)
    : before_(allowed_processors()) {
  cpu_set_t free = allowed;
  for (const unsigned core : worker_cores) CPU_CLR(core, &free);
  const cpu_set_t& chosen = CPU_COUNT(&free) == 0 ? allowed : free;
  pthread_setaffinity_np(pthread_self(), sizeof chosen, &chosen);
}

ControlPlacement::~ControlPlacement() {
  pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
}

cpu_set_t allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  pthread_getaffinity_np(pthread_self(), sizeof set, &set);
  return set;
}

}  // namespace roost::control

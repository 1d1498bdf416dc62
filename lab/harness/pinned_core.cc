#include "lab/harness/pinned_core.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace roost::lab {

Result<int> last_allowed_core() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return Error{std::string("the allowed cores cannot be read: ") + std::strerror(errno)};
  }
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &cores)) return core;
  }
  return Error{"this process may run on no core; check its affinity"};
}

Result<int> pin_to_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(core), &cores);
  if (sched_setaffinity(0, sizeof(cores), &cores) != 0) {
    return Error{"core " + std::to_string(core) + " cannot be used: " + std::strerror(errno) +
                 "; name an allowed one with --core"};
  }
  return sched_getcpu();
}

}  // namespace roost::lab

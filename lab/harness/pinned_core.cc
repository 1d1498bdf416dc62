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

Result<std::vector<int>> measuring_cores(int asked, size_t count) {
  const Result<int> first = asked >= 0 ? Result<int>(asked) : last_allowed_core();
  if (!first) return first.error();
  std::vector<int> cores;
  for (size_t i = 0; i < count; ++i) cores.push_back(first.value() - static_cast<int>(i));
  if (count > 0 && cores.back() < 0) {
    return Error{"from core " + std::to_string(first.value()) + " down there are no " +
                 std::to_string(count) + " cores; name a later one with --core"};
  }
  return cores;
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

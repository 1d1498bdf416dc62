#include "roost/io/lcores.h"

#include <rte_launch.h>
#include <rte_lcore.h>

#include <algorithm>
#include <array>
#include <latch>
#include <string_view>
#include <vector>

#include "roost/base/assert.h"

namespace roost::io {

namespace {

// What one lcore is to do. The latch orders what it wrote before what its caller reads: EAL does
// too, but not for a thread sanitizer to see.
struct Task {
  const std::function<void(size_t)>* work;
  size_t worker;
  std::latch* done;
};

int run_task(void* argument) {
  const Task& task = *static_cast<const Task*>(argument);
  (*task.work)(task.worker);
  task.done->count_down();
  return 0;
}

}  // namespace

size_t lcore_count() { return rte_lcore_count(); }

bool names_lcores(std::span<const std::string> eal_arguments) {
  // A short option's value may follow it in the same word.
  constexpr std::array<std::string_view, 3> kOptions = {"-l", "-c", "--lcores"};
  return std::ranges::any_of(eal_arguments, [&](std::string_view argument) {
    return std::ranges::any_of(
        kOptions, [&](std::string_view option) { return argument.starts_with(option); });
  });
}

void run_on_lcores(size_t worker_count, const std::function<void(size_t)>& work) {
  ROOST_ASSERT(worker_count >= 1 && worker_count <= lcore_count());
  ROOST_ASSERT(rte_lcore_id() == rte_get_main_lcore());
  std::latch done(static_cast<ptrdiff_t>(worker_count - 1));
  std::vector<Task> tasks;
  for (size_t worker = 1; worker < worker_count; ++worker) tasks.push_back({&work, worker, &done});
  unsigned lcore = rte_get_next_lcore(-1U, 1, 0);
  for (Task& task : tasks) {
    const int code = rte_eal_remote_launch(run_task, &task, lcore);
    ROOST_ASSERT(code == 0);
    lcore = rte_get_next_lcore(lcore, 1, 0);
  }
  work(0);
  done.wait();
  rte_eal_mp_wait_lcore();
}

}  // namespace roost::io

// Makes the calling thread one of DPDK's, if it is none, which its tables ask for when several
// threads write.
#pragma once

#include <rte_lcore.h>

namespace roost::lab {

class LcoreThread {
 public:
  LcoreThread() : is_made_here_(rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() == 0) {}
  ~LcoreThread() {
    if (is_made_here_) rte_thread_unregister();
  }
  LcoreThread(const LcoreThread&) = delete;
  LcoreThread& operator=(const LcoreThread&) = delete;

 private:
  bool is_made_here_;
};

}  // namespace roost::lab

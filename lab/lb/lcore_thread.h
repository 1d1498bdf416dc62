// Makes the calling thread one of DPDK's, which its tables ask for when several threads write.
#pragma once

#include <rte_lcore.h>

namespace roost::lab {

class LcoreThread {
 public:
  LcoreThread() { static_cast<void>(rte_thread_register()); }
  ~LcoreThread() { rte_thread_unregister(); }
  LcoreThread(const LcoreThread&) = delete;
  LcoreThread& operator=(const LcoreThread&) = delete;
};

}  // namespace roost::lab

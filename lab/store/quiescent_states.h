// Grace periods by quiescent states (QSBR, DPDK's): what was taken out of a table that threads
// share may be used anew when each of them has said, since then, that it holds nothing any more.
#pragma once

#include <rte_rcu_qsbr.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "roost/base/assert.h"

namespace roost::lab {

// Threads are numbered from 0. All of them take part from the beginning, so none need be waited for
// that joins later.
class QuiescentStates {
 public:
  using Token = uint64_t;  // a grace period

  explicit QuiescentStates(size_t threads) {
    ROOST_ASSERT(threads > 0);
    const auto count = static_cast<uint32_t>(threads);
    const size_t bytes = rte_rcu_qsbr_get_memsize(count);
    lines_ = std::make_unique<Line[]>((bytes + sizeof(Line) - 1) / sizeof(Line));
    const int made = rte_rcu_qsbr_init(variable(), count);
    ROOST_ASSERT(made == 0);
    for (unsigned thread = 0; thread < count; ++thread) {
      static_cast<void>(rte_rcu_qsbr_thread_register(variable(), thread));
      rte_rcu_qsbr_thread_online(variable(), thread);
    }
  }

  // The thread's own: it holds nothing that it has read before. A release of its reads, and an
  // acquire of all that was done before the grace periods that have begun.
  void pass(unsigned thread) { rte_rcu_qsbr_quiescent(variable(), thread); }
  // It takes no part any more.
  void leave(unsigned thread) { rte_rcu_qsbr_thread_offline(variable(), thread); }

  // Begins a grace period, for what the caller has taken out before. Any thread, any time.
  [[nodiscard]] Token begin() { return rte_rcu_qsbr_start(variable()); }
  // Whether all threads that take part have passed since; costs a load a thread. One thread at a
  // time asks: DPDK keeps the last answer in a plain word.
  [[nodiscard]] bool is_over(Token token) {
    return rte_rcu_qsbr_check(variable(), token, /*wait=*/false) == 1;
  }

  [[nodiscard]] rte_rcu_qsbr* variable() { return reinterpret_cast<rte_rcu_qsbr*>(lines_.get()); }

 private:
  struct alignas(RTE_CACHE_LINE_SIZE) Line {
    std::byte bytes[RTE_CACHE_LINE_SIZE];
  };
  static_assert(sizeof(Line) == RTE_CACHE_LINE_SIZE, "DPDK aligns its variable so");

  std::unique_ptr<Line[]> lines_;
};

}  // namespace roost::lab

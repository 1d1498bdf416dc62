#include "sim/core_threads.h"

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::sim {

CoreThreads::CoreThreads(MemorySystem& memory, Tile tile, QuerySink* accelerators,
                         std::span<Program* const> programs)
    : memory_(memory) {
  ROOST_ASSERT(!programs.empty());
  const CoreShare share{.threads = this, .count = static_cast<uint32_t>(programs.size())};
  for (Program* program : programs)
    threads_.emplace_back(memory, tile, accelerators, *program, share);
  owner_ = threads_.size() - 1;  // the first one has the first turn
}

void CoreThreads::handle(const Event& /*event*/) {
  if (memory_.now() >= wakes_at_) wakes_at_ = kNever;
  take_turns();
}

void CoreThreads::take_turns() {
  have_turn();
  wake_when_any_may_enter();
}

void CoreThreads::have_turn() {
  const Cycle now = memory_.now();
  if (owned_ == now) {
    slots_left_ -= threads_[owner_].enter_now(slots_left_);
    return;
  }
  const uint32_t width = memory_.parameters().core_issue_width;
  for (size_t turn = 1; turn <= threads_.size(); ++turn) {
    const size_t next = (owner_ + turn) % threads_.size();
    const uint32_t entered = threads_[next].enter_now(width);
    if (entered == 0) continue;
    owner_ = next;
    owned_ = now;
    slots_left_ = width - entered;
    return;
  }
}

void CoreThreads::wake_when_any_may_enter() {
  const Cycle now = memory_.now();
  Cycle next = kNever;
  for (Core& thread : threads_) {
    if (const auto from = thread.may_enter_from()) next = std::min(next, std::max(*from, now + 1));
  }
  if (next >= wakes_at_) return;
  wakes_at_ = next;
  memory_.events().at(next, {this, 0, 0, 0});
}

}  // namespace roost::sim

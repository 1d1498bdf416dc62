// SIGHUP: a thread of its own waits for it, so that no worker is interrupted.
#pragma once

#include <functional>
#include <thread>

namespace roost::control {

// From now on SIGHUP waits until a ReloadSignal takes it, on this thread and those that it starts.
void block_reload_signal();

class ReloadSignal {
 public:
  // Calls `on_signal` for each SIGHUP from now on, one that waits already included, after
  // block_reload_signal() was called before any thread was started.
  explicit ReloadSignal(std::function<void()> on_signal);
  ReloadSignal(const ReloadSignal&) = delete;
  ReloadSignal& operator=(const ReloadSignal&) = delete;
  ~ReloadSignal();  // waits for a call that is under way

 private:
  std::function<void()> on_signal_;
  std::jthread thread_;
};

}  // namespace roost::control

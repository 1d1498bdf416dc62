#include "roost/control/reload_signal.h"

#include <csignal>
#include <utility>

#include <pthread.h>

namespace roost::control {

namespace {

sigset_t reload_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

void block_reload_signal() {
  const sigset_t signals = reload_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

ReloadSignal::ReloadSignal(std::function<void()> on_signal)
    : on_signal_(std::move(on_signal)), thread_([this](const std::stop_token& stop) {
        const sigset_t signals = reload_signals();
        int signal = 0;
        while (sigwait(&signals, &signal) == 0 && !stop.stop_requested()) on_signal_();
      }) {}

// The thread is woken by the signal that it waits for.
ReloadSignal::~ReloadSignal() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), SIGHUP);
}

}  // namespace roost::control

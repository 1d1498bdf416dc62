#include "roost/control/service_notice.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace roost::control {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A turn takes microseconds; a worker that has not taken one by now hangs, or has not begun.
constexpr milliseconds kTurnWaitMax{1'000};
// Between two looks at workers that have not begun, or that hang.
constexpr milliseconds kPauseMax{100};

void tell(const std::string& state) { sd_notify(0, state.c_str()); }

// Of the watchdog; 0 when the manager wants none.
microseconds watchdog_interval() {
  uint64_t interval = 0;
  if (sd_watchdog_enabled(0, &interval) <= 0) return microseconds(0);
  return microseconds(interval);
}

}  // namespace

class ServiceNotice::Notifier {
 public:
  explicit Notifier(node::WorkerMailboxes& mailboxes)
      : mailboxes_(mailboxes),
        interval_(watchdog_interval()),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  ~Notifier() {
    thread_.request_stop();
    thread_.join();
    tell("STOPPING=1\nSTATUS=ending");
  }

 private:
  void run(const std::stop_token& stop) {
    bool is_ready = false;
    while (!stop.stop_requested()) {
      const std::string complaint = first_without_turn();
      if (!complaint.empty()) {
        tell("STATUS=" + complaint);
        pause(stop, kPauseMax);
        continue;
      }
      if (!std::exchange(is_ready, true)) tell("READY=1");
      tell("STATUS=" + std::to_string(mailboxes_.worker_count()) + " workers process packets");
      if (interval_.count() == 0) return;
      tell("WATCHDOG=1");
      pause(stop, interval_ / 2);
    }
  }

  // Which worker took no turn, in words; empty when all did.
  std::string first_without_turn() {
    const std::vector<node::Answer> answers = mailboxes_.await_turns(turn_wait());
    const auto missing = std::ranges::find_if_not(
        answers, [](node::Answer answer) { return answer == node::Answer::kDone; });
    if (missing == answers.end()) return {};
    return "worker " + std::to_string(missing - answers.begin()) +
           (*missing == node::Answer::kClosed ? " has ended" : " takes no turn");
  }

  // Short enough for a second try before the watchdog barks.
  [[nodiscard]] milliseconds turn_wait() const {
    if (interval_.count() == 0) return kTurnWaitMax;
    return std::clamp(std::chrono::duration_cast<milliseconds>(interval_ / 8), milliseconds(1),
                      kTurnWaitMax);
  }

  void pause(const std::stop_token& stop, microseconds length) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, length, [] { return false; });
  }

  node::WorkerMailboxes& mailboxes_;
  microseconds interval_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

std::unique_ptr<ServiceNotice> ServiceNotice::start(node::WorkerMailboxes& mailboxes) {
  if (sd_notify(0, "STATUS=starting") <= 0) return nullptr;
  return std::unique_ptr<ServiceNotice>(new ServiceNotice(std::make_unique<Notifier>(mailboxes)));
}

ServiceNotice::ServiceNotice(std::unique_ptr<Notifier> notifier) : notifier_(std::move(notifier)) {}
ServiceNotice::~ServiceNotice() = default;

}  // namespace roost::control

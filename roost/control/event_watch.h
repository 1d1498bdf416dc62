// Looks at a running function, twice a second, and reports what has changed: links of ports,
// neighbours that were lost and found again, tables that are full. Workers count as they always do;
// what it asks of them is a request of one step, and a walk over the neighbours only when one has
// failed.
//
// Reported at most: eight neighbours a look; of full tables the first refusal at once, and then
// once a minute how many there were since.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "roost/control/event_log.h"
#include "roost/control/neighbour_rows.h"
#include "roost/control/worker_handle.h"
#include "roost/node/mailbox.h"

namespace roost::control {

struct PortLink {
  std::string device{};
  bool is_up = true;
};

class EventWatch {
 public:
  using Clock = std::chrono::steady_clock;

  struct Config {
    std::vector<WorkerHandle> workers{};  // worker i has mailbox i
    node::WorkerMailboxes* mailboxes = nullptr;
    std::string full_table_advice{};                      // what to look at when a table is full
    std::function<std::vector<PortLink>()> read_links{};  // by port
    TellEvent tell{};
    std::function<void()> look_also = [] {};  // what the function itself does each time
  };

  explicit EventWatch(Config config) : config_(std::move(config)) {}

  // Looks once. False when the workers have ended.
  bool look(Clock::time_point now);

 private:
  using Place = std::pair<uint16_t, net::IpAddress>;
  // What was reported of a neighbour last, and since when that has been so.
  struct Told {
    bool is_lost = false;
    Tick since{};
  };
  struct Counts {
    uint64_t table_full = 0;         // packets dropped for it
    uint64_t neighbours_failed = 0;  // so often one did not answer
  };

  // Nothing when not every worker answers.
  [[nodiscard]] std::optional<Counts> count();
  void tell_links();
  void tell_full_tables(uint64_t refused, Clock::time_point now);
  void tell_neighbours();
  [[nodiscard]] bool ask(std::span<node::Request* const> requests);

  Config config_;
  bool is_closed_ = false;    // the workers have ended
  std::vector<bool> was_up_;  // by port; at first it should be
  uint64_t refused_told_ = 0;
  std::optional<Clock::time_point> full_told_at_;
  uint64_t failed_before_ = 0;
  std::map<Place, Told> told_;
};

// The same in a thread of its own.
class EventWatcher {
 public:
  explicit EventWatcher(EventWatch::Config config);
  EventWatcher(const EventWatcher&) = delete;
  EventWatcher& operator=(const EventWatcher&) = delete;
  ~EventWatcher() = default;

 private:
  EventWatch watch_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace roost::control

// The workers of a run: each with a state, a datapath and a worker loop of its own, on a core of
// its own.
//
// The first worker is the thread that calls; it sees the stop, shows the status line, and tells the
// others to stop. All receive their last packet before any of them ends, so nothing is left between
// them.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "apps/lb/control_requests.h"
#include "apps/lb/report.h"
#include "apps/lb/state.h"
#include "apps/lb/status_line.h"
#include "apps/lb/watched_datapath.h"
#include "roost/base/result.h"
#include "roost/concurrent/published.h"
#include "roost/io/capture_merge.h"
#include "roost/io/hand_over.h"
#include "roost/io/port.h"
#include "roost/node/mailbox.h"
#include "roost/node/worker_loop.h"

namespace roost::lb {

class Workers {
 public:
  // As many as the configuration says, which must be no more than there are lcores; the ports have
  // queues for them, and the key of `owner_seed` (node::rss_key). Each worker's tables are made on
  // its own core. Ports and `stop` must outlive this.
  static Result<std::unique_ptr<Workers>> create(const Config& config, std::vector<io::Port>& ports,
                                                 uint64_t owner_seed,
                                                 const volatile std::sig_atomic_t& stop);

  // Until somebody says stop.
  void run_live();
  // Until the captures end or somebody says stop; by one worker, which must be the only one.
  void run_captures(io::CaptureMerge& captures);

  // For control threads, which ask them by the room's mailboxes while packets flow.
  [[nodiscard]] std::vector<ControlledWorker> controlled();
  [[nodiscard]] node::Mailroom& room() { return room_; }

  [[nodiscard]] std::vector<State*> states();
  [[nodiscard]] std::vector<WatchedDatapath*> datapaths();
  // What they did, in sum and each; not what devices say, nor of captures.
  [[nodiscard]] RunTotals totals() const;

 private:
  // One worker's own; nothing of it shares a cache line with another's.
  struct alignas(64) One {
    One(State own_state, std::span<io::Port> ports, const node::FlowOwner& owner,
        const node::WorkerConfig& config, unsigned own_core)
        : state(std::move(own_state)),
          datapath(state, owner),
          worker(datapath, ports, config),
          core(own_core) {}

    State state;
    WatchedDatapath datapath;
    node::Worker<WatchedDatapath> worker;
    unsigned core;
    Published<7> published;  // packets, drops, flows made, ended, expired, deleted and evicted
  };
  static_assert(sizeof(One) % 64 == 0);

  Workers(size_t count, std::vector<io::Port>& ports, const volatile std::sig_atomic_t& stop)
      : ports_(ports), stop_(stop), room_(count) {}
  std::optional<Error> make_workers(const Config& config, uint64_t owner_seed);
  [[nodiscard]] bool is_stopped();
  void add_totals(size_t worker, RunTotals& totals) const;
  void publish(One& one, const node::WorkerCounters& counters);
  void show();

  std::vector<io::Port>& ports_;
  const volatile std::sig_atomic_t& stop_;
  std::stop_source others_stop_;
  node::Mailroom room_;
  std::optional<io::HandOver> hand_over_;  // none for one worker
  std::vector<std::unique_ptr<One>> workers_;
  StatusLine status_line_;
};

}  // namespace roost::lb

// The workers of a run, whatever their function: each with a state, a datapath and a worker loop of
// its own, on a core of its own.
//
// The first worker is the thread that calls; it sees the stop request, and stops the others. All
// receive their last packet before any of them ends, so nothing is left between them. An interrupt
// stops them likewise, and they can go on.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/concurrent/published.h"
#include "roost/io/capture_merge.h"
#include "roost/io/clock.h"
#include "roost/io/handoff.h"
#include "roost/io/port.h"
#include "roost/net/address.h"
#include "roost/node/flow_owner.h"
#include "roost/node/mailbox.h"
#include "roost/node/run_totals.h"
#include "roost/node/worker_loop.h"

namespace roost::node {

// One worker, whatever its function.
class RunningWorker {
 public:
  using Stop = std::function<bool()>;
  using OnSecond = std::function<void(const WorkerCounters&)>;

  RunningWorker() = default;
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;
  virtual ~RunningWorker() = default;

  // As for Worker.
  virtual void run_live(const io::TickClock& clock, const Stop& stop,
                        const OnSecond& on_second) = 0;
  virtual void run_captures(io::CaptureMerge& captures, const Stop& stop,
                            const OnSecond& on_second) = 0;
  [[nodiscard]] virtual const WorkerCounters& counters() const = 0;
};

// What a worker is made for.
struct WorkerSeat {
  size_t worker = 0;
  size_t worker_count = 1;
  std::span<const net::MacAddress> device_macs;  // by port
  std::span<io::Port> ports{};                   // none when only its state is made
  FlowOwner owner{{}};
  WorkerConfig config{};
};

// A function's worker. Nothing of it shares a cache line with another's.
template <class State, class Datapath>
class alignas(64) FunctionWorker final : public RunningWorker {
 public:
  FunctionWorker(State own_state, const WorkerSeat& seat)
      : state(std::move(own_state)),
        datapath(state, seat.owner),
        loop_(datapath, seat.ports, seat.config) {
    static_assert(sizeof(FunctionWorker) % 64 == 0);
  }

  void run_live(const io::TickClock& clock, const Stop& stop, const OnSecond& on_second) override {
    loop_.run_live(clock, stop, on_second);
  }
  void run_captures(io::CaptureMerge& captures, const Stop& stop,
                    const OnSecond& on_second) override {
    loop_.run_captures(captures, stop, on_second);
  }
  [[nodiscard]] const WorkerCounters& counters() const override { return loop_.counters(); }

  State state;
  Datapath datapath;

 private:
  Worker<Datapath> loop_;
};

class Workers {
 public:
  struct Config {
    size_t count = 1;         // no more than there are lcores; the ports have queues for them
    uint64_t owner_seed = 0;  // the ports have the key of it (rss_key)
    double tick_seconds = 1;
    std::optional<io::TickClock::Origin> clock{};  // else ticks begin now
    uint32_t pause_microseconds = 0;               // as WorkerConfig's
    // Makes a worker, on its own core; of all workers at the same time.
    std::function<Result<std::unique_ptr<RunningWorker>>(const WorkerSeat&)> make{};
    // About once a second, on the worker's own thread.
    std::function<void(size_t worker, const WorkerCounters&)> on_second =
        [](size_t, const WorkerCounters&) {};
    // Asked by the first worker, each turn from a stop request on, until it is true.
    std::function<bool()> may_stop = [] { return true; };
  };

  // Ports and `stop` must outlive this.
  static Result<std::unique_ptr<Workers>> create(const Config& config, std::vector<io::Port>& ports,
                                                 const volatile std::sig_atomic_t& stop);

  // Until a stop is requested, or an interrupt; false: it was only an interrupt, and it may be
  // called again.
  bool run_live();
  // Any thread, one at a time: run_live() returns soon.
  void interrupt() { interrupts_.publish({interrupts_.look()[0] + 1}); }
  // Nothing runs any more: whoever asks the workers is told so.
  void close_mailboxes();
  // Until the captures end or a stop is requested; by one worker, which must be the only one.
  void run_captures(io::CaptureMerge& captures);

  // For control threads, which ask the workers by its mailboxes while packets flow.
  [[nodiscard]] WorkerMailboxes& mailboxes() { return mailboxes_; }
  [[nodiscard]] size_t count() const { return workers_.size(); }
  [[nodiscard]] const std::vector<unsigned>& cores() const { return cores_; }

  // What they did, in sum and each; not what devices say, nor of captures.
  [[nodiscard]] RunTotals totals() const;
  // Adds what one worker and its queues of the ports counted; on its thread or after its end.
  // Allocates nothing.
  void add_totals(size_t worker, RunTotals& totals) const;

 private:
  Workers(Config config, std::vector<io::Port>& ports, const volatile std::sig_atomic_t& stop)
      : config_(std::move(config)),
        ports_(ports),
        stop_(stop),
        clock_(config_.clock ? io::TickClock(*config_.clock) : io::TickClock(config_.tick_seconds)),
        mailboxes_(config_.count) {}
  std::optional<Error> make_workers();
  [[nodiscard]] bool is_stopped();

  Config config_;
  std::vector<io::Port>& ports_;
  const volatile std::sig_atomic_t& stop_;
  io::TickClock clock_;
  Published<1> interrupts_;         // how many there were
  uint64_t interrupts_before_ = 0;  // those that run_live() has returned for
  std::stop_source others_stop_;
  WorkerMailboxes mailboxes_;
  std::optional<io::Handoff> handoff_;  // none for one worker
  std::vector<std::unique_ptr<RunningWorker>> workers_;
  std::vector<unsigned> cores_;
};

}  // namespace roost::node

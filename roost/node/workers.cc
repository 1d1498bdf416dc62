#include "roost/node/workers.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "roost/io/lcores.h"

namespace roost::node {

namespace {

WorkerTotals totals_of(size_t worker, std::span<const io::Port> ports,
                       const WorkerCounters& counters, const io::Handoff* handoff) {
  WorkerTotals totals{{}, {}, counters, counters.packets, counters.cycles};
  for (const io::Port& port : ports) {
    add_counters<io::PortCounters>(io::kPortCounters, port.queue(worker).counters(), totals);
  }
  if (handoff == nullptr) return totals;
  add_counters<io::HandoffCounters>(io::kHandoffCounters, handoff->queues(worker).counters(),
                                    totals);
  return totals;
}

}  // namespace

Result<std::unique_ptr<Workers>> Workers::create(const Config& config, std::vector<io::Port>& ports,
                                                 const volatile std::sig_atomic_t& stop) {
  std::unique_ptr<Workers> workers(new Workers(config, ports, stop));
  if (config.count > 1) {
    auto handoff = io::Handoff::create({.worker_count = config.count});
    if (!handoff) return handoff.error();
    workers->handoff_.emplace(std::move(handoff).value());
  }
  if (auto error = workers->make_workers()) return *error;
  return workers;
}

std::optional<Error> Workers::make_workers() {
  const size_t count = config_.count;
  std::vector<net::MacAddress> macs;
  for (const io::Port& port : ports_) macs.push_back(port.mac());
  std::vector<std::optional<Error>> errors(count);
  workers_.resize(count);
  cores_.resize(count);
  io::run_on_lcores(count, [&](size_t worker) {
    cores_[worker] = static_cast<unsigned>(std::max(0, sched_getcpu()));
    auto made = config_.make(
        {.worker = worker,
         .worker_count = count,
         .device_macs = macs,
         .ports = ports_,
         .owner = FlowOwner({.worker_count = count, .worker = worker, .seed = config_.owner_seed}),
         .config = {.worker = worker,
                    .handoff = handoff_ ? &handoff_->queues(worker) : nullptr,
                    .mailbox = &mailboxes_.mailbox(worker),
                    .pause_microseconds = config_.pause_microseconds}});
    if (made) {
      workers_[worker] = std::move(made).value();
    } else {
      errors[worker] = made.error();
    }
  });
  for (const std::optional<Error>& error : errors) {
    if (error) return error;
  }
  return {};
}

bool Workers::is_stopped() {
  const bool is_interrupted = interrupts_.look()[0] != interrupts_before_;
  if (!is_interrupted && (stop_ == 0 || !config_.may_stop())) return false;
  others_stop_.request_stop();
  return true;
}

bool Workers::run_live() {
  others_stop_ = std::stop_source();
  const std::stop_token told_to_stop = others_stop_.get_token();
  io::run_on_lcores(workers_.size(), [&](size_t index) {
    const auto on_second = [&](const WorkerCounters& counters) {
      config_.on_second(index, counters);
    };
    const RunningWorker::Stop stop =
        index == 0 ? RunningWorker::Stop([this] { return is_stopped(); })
                   : RunningWorker::Stop([&] { return told_to_stop.stop_requested(); });
    workers_[index]->run_live(clock_, stop, on_second);
  });
  const uint64_t before = std::exchange(interrupts_before_, interrupts_.look()[0]);
  return interrupts_before_ == before;
}

void Workers::close_mailboxes() {
  for (size_t worker = 0; worker < workers_.size(); ++worker) mailboxes_.mailbox(worker).close();
}

void Workers::run_captures(io::CaptureMerge& captures) {
  workers_.front()->run_captures(
      captures, [this] { return is_stopped(); },
      [&](const WorkerCounters& counters) { config_.on_second(0, counters); });
}

RunTotals Workers::totals() const {
  RunTotals totals;
  totals.ports.resize(ports_.size());
  for (size_t worker = 0; worker < workers_.size(); ++worker) {
    add_totals(worker, totals);
    totals.workers.push_back(
        totals_of(worker, ports_, workers_[worker]->counters(), handoff_ ? &*handoff_ : nullptr));
  }
  return totals;
}

void Workers::add_totals(size_t worker, RunTotals& totals) const {
  const WorkerCounters& counters = workers_[worker]->counters();
  add_counters<FrameCounters>(kFrameCounters, counters, totals);
  add_counters<TurnCounters>(kTurnCounters, counters, totals);
  totals.cycles += counters.cycles;
  totals.drops += counters.drops;
  if (handoff_) {
    totals.drops[net::DropCause::kHandoffFull] += handoff_->queues(worker).counters().handoff_full;
  }
  for (size_t port = 0; port < ports_.size(); ++port) {
    add_counters<io::PortCounters>(io::kPortCounters, ports_[port].queue(worker).counters(),
                                   totals.ports[port]);
  }
}

}  // namespace roost::node

#include "apps/lb/workers.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "roost/io/clock.h"
#include "roost/io/lcores.h"

namespace roost::lb {

namespace {

WorkerTotals totals_of(size_t worker, std::span<const io::Port> ports,
                       const node::WorkerCounters& counters, const io::HandOver* hand_over) {
  WorkerTotals totals{
      .decided = counters.packets, .batches = counters.batches, .cycles = counters.cycles};
  for (const io::Port& port : ports) {
    totals.received += port.queue(worker).counters().received;
    totals.sent += port.queue(worker).counters().sent;
  }
  if (hand_over == nullptr) return totals;
  const io::HandOverCounters& desk = hand_over->desk(worker).counters();
  totals.given = desk.given;
  totals.taken = desk.taken;
  totals.refused = desk.refused;
  totals.copies_taken = desk.copies_taken;
  totals.copies_lost = desk.copies_lost;
  return totals;
}

void add_port(const io::PortCounters& counters, PortTotals& totals) {
  totals.received += counters.received;
  totals.received_bytes += counters.received_bytes;
  totals.sent += counters.sent;
  totals.sent_bytes += counters.sent_bytes;
  totals.refused += counters.refused;
  totals.no_buffer += counters.no_buffer;
  totals.malformed += counters.malformed;
}

}  // namespace

Result<std::unique_ptr<Workers>> Workers::create(const Config& config, std::vector<io::Port>& ports,
                                                 uint64_t owner_seed,
                                                 const volatile std::sig_atomic_t& stop) {
  const size_t count = config.workers.value_or(1);
  std::unique_ptr<Workers> workers(new Workers(count, ports, stop));
  if (count > 1) {
    auto hand_over = io::HandOver::create({.worker_count = count});
    if (!hand_over) return hand_over.error();
    workers->hand_over_.emplace(std::move(hand_over).value());
  }
  if (auto error = workers->make_workers(config, owner_seed)) return *error;
  return workers;
}

std::optional<Error> Workers::make_workers(const Config& config, uint64_t owner_seed) {
  const size_t count = config.workers.value_or(1);
  std::vector<net::MacAddress> macs;
  for (const io::Port& port : ports_) macs.push_back(port.mac());
  std::vector<std::optional<Error>> errors(count);
  workers_.resize(count);
  io::run_on_lcores(count, [&](size_t worker) {
    auto state = State::create(config, macs, {.worker = worker, .worker_count = count});
    if (!state) {
      errors[worker] = state.error();
      return;
    }
    const node::FlowOwner owner({.worker_count = count, .worker = worker, .seed = owner_seed});
    const node::WorkerConfig worker_config{.worker = worker,
                                           .desk = hand_over_ ? &hand_over_->desk(worker) : nullptr,
                                           .mailbox = &room_.mailbox(worker)};
    workers_[worker] = std::make_unique<One>(std::move(state).value(), ports_, owner, worker_config,
                                             static_cast<unsigned>(std::max(0, sched_getcpu())));
  });
  for (const std::optional<Error>& error : errors) {
    if (error) return error;
  }
  return {};
}

bool Workers::is_stopped() {
  if (stop_ == 0) return false;
  others_stop_.request_stop();
  return true;
}

void Workers::run_live() {
  const io::TickClock clock(workers_.front()->state.config().tick_seconds());
  workers_.front()->state.announce();
  const std::stop_token told_to_stop = others_stop_.get_token();
  io::run_on_lcores(workers_.size(), [&](size_t index) {
    One& one = *workers_[index];
    const auto publish_counters = [&](const node::WorkerCounters& counters) {
      publish(one, counters);
      if (index == 0) show();
    };
    if (index == 0) {
      one.worker.run_live(
          clock, [this] { return is_stopped(); }, publish_counters);
    } else {
      one.worker.run_live(
          clock, [&] { return told_to_stop.stop_requested(); }, publish_counters);
    }
    room_.mailbox(index).close();
  });
}

void Workers::run_captures(io::CaptureMerge& captures) {
  One& one = *workers_.front();
  one.worker.run_captures(
      captures, [this] { return is_stopped(); },
      [&](const node::WorkerCounters& counters) {
        publish(one, counters);
        show();
      });
  room_.mailbox(0).close();
}

void Workers::publish(One& one, const node::WorkerCounters& counters) {
  uint64_t drops = 0;
  for (const uint64_t count : counters.drops_by_cause) drops += count;
  const FlowCounts flows = one.state.counts();
  one.published.publish({counters.packets, drops, flows.made, flows.ended, flows.expired,
                         flows.deleted, flows.evicted});
}

void Workers::show() {
  StatusLine::Numbers sum;
  for (const auto& one : workers_) {
    const auto [packets, drops, made, ended, expired, deleted, evicted] = one->published.look();
    sum.packets += packets;
    sum.drops += drops;
    sum.flows.made += made;
    sum.flows.ended += ended;
    sum.flows.expired += expired;
    sum.flows.deleted += deleted;
    sum.flows.evicted += evicted;
  }
  status_line_.show(sum);
}

std::vector<State*> Workers::states() {
  std::vector<State*> states;
  for (const auto& one : workers_) states.push_back(&one->state);
  return states;
}

std::vector<WatchedDatapath*> Workers::datapaths() {
  std::vector<WatchedDatapath*> datapaths;
  for (const auto& one : workers_) datapaths.push_back(&one->datapath);
  return datapaths;
}

std::vector<ControlledWorker> Workers::controlled() {
  std::vector<ControlledWorker> controlled;
  for (size_t worker = 0; worker < workers_.size(); ++worker) {
    controlled.push_back({&workers_[worker]->state,
                          [this, worker](RunTotals& totals) { add_totals(worker, totals); },
                          workers_[worker]->core});
  }
  return controlled;
}

RunTotals Workers::totals() const {
  RunTotals totals;
  totals.ports.resize(ports_.size());
  for (size_t worker = 0; worker < workers_.size(); ++worker) {
    add_totals(worker, totals);
    totals.workers.push_back(totals_of(worker, ports_, workers_[worker]->worker.counters(),
                                       hand_over_ ? &*hand_over_ : nullptr));
  }
  return totals;
}

// On the worker's thread or after its end; the ports' totals are there.
void Workers::add_totals(size_t worker, RunTotals& totals) const {
  const node::WorkerCounters& counters = workers_[worker]->worker.counters();
  totals.originated += counters.originated;
  totals.consumed += counters.consumed;
  totals.batches += counters.batches;
  totals.cycles += counters.cycles;
  for (size_t cause = 0; cause < kDropCauseCount; ++cause)
    totals.drops[cause] += counters.drops_by_cause[cause];
  if (hand_over_) {
    totals.drops[static_cast<size_t>(DropCause::kHandOverFull)] +=
        hand_over_->desk(worker).counters().refused;
  }
  for (size_t port = 0; port < ports_.size(); ++port)
    add_port(ports_[port].queue(worker).counters(), totals.ports[port]);
}

}  // namespace roost::lb

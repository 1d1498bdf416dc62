#include "roost/control/event_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "roost/control/ask_workers.h"

namespace roost::control {

namespace {

constexpr std::chrono::milliseconds kLookEvery{500};
constexpr std::chrono::seconds kFullToldEvery{60};
constexpr size_t kNeighboursToldMax = 8;

// The few counts of a worker that events are made of.
class CountsRequest final : public node::Request {
 public:
  CountsRequest(const WorkerHandle& worker, size_t port_count) : worker_(worker) {
    totals_.ports.resize(port_count);
  }
  bool step() override {
    worker_.read_totals(totals_);
    table_full = totals_.drops[net::DropCause::kTableFull];
    if (worker_.next_hops != nullptr) {
      neighbours_failed = worker_.next_hops->neighbours().counters().failed;
    }
    return true;
  }

  uint64_t table_full = 0;
  uint64_t neighbours_failed = 0;

 private:
  const WorkerHandle& worker_;
  node::RunTotals totals_;
};

// What the workers know of a neighbour: when one found last that it does not answer, and that it
// does.
struct Evidence {
  std::optional<Tick> failed{};
  std::optional<Tick> reachable{};
  bool was_known = false;  // by its MAC, or by the configuration

  void add(const NeighbourRow& row) {
    was_known = was_known || row.is_pinned || row.mac != net::MacAddress();
    if (row.state == l3::NeighbourState::kFailed) failed = std::max(failed, {row.since});
    if (row.state == l3::NeighbourState::kReachable) reachable = std::max(reachable, {row.since});
  }
};

}  // namespace

bool EventWatch::look(Clock::time_point now) {
  tell_links();
  if (const std::optional<Counts> counts = count()) {
    tell_full_tables(counts->table_full, now);
    const bool is_any_lost =
        std::ranges::any_of(told_, [](const auto& one) { return one.second.is_lost; });
    if (counts->neighbours_failed != failed_before_ || is_any_lost) tell_neighbours();
    failed_before_ = counts->neighbours_failed;
    config_.look_also();
  }
  return !is_closed_;
}

bool EventWatch::ask(std::span<node::Request* const> requests) {
  const Asked asked = ask_workers(*config_.mailboxes, requests);
  is_closed_ = asked.is_closed();
  return asked.ok();
}

std::optional<EventWatch::Counts> EventWatch::count() {
  Requests<CountsRequest> requests;
  for (const WorkerHandle& worker : config_.workers) requests.add(worker, was_up_.size());
  if (!ask(requests.posted())) return {};
  Counts sum;
  for (const CountsRequest& request : requests) {
    sum.table_full += request.table_full;
    sum.neighbours_failed += request.neighbours_failed;
  }
  return sum;
}

void EventWatch::tell_links() {
  const std::vector<PortLink> links = config_.read_links();
  was_up_.resize(links.size(), true);
  for (size_t port = 0; port < links.size(); ++port) {
    const bool is_up = links[port].is_up;
    if (is_up == was_up_[port]) continue;
    was_up_[port] = is_up;
    config_.tell(
        is_up ? Severity::kNotice : Severity::kError,
        fmt::format("port {} ({}): link {}", port, links[port].device, is_up ? "up" : "down"));
  }
}

void EventWatch::tell_full_tables(uint64_t refused, Clock::time_point now) {
  if (refused == refused_told_) return;
  if (full_told_at_ && now - *full_told_at_ < kFullToldEvery) return;
  config_.tell(Severity::kWarning,
               fmt::format("table full: {} packets of new connections dropped{}; see {}",
                           refused - refused_told_, full_told_at_ ? " since it was told last" : "",
                           config_.full_table_advice));
  refused_told_ = refused;
  full_told_at_ = now;
}

// Of two workers' findings the later one counts, and each is reported once.
void EventWatch::tell_neighbours() {
  Requests<NeighboursRequest> requests;
  for (const WorkerHandle& worker : config_.workers) {
    requests.add(worker.next_hops->neighbours());
  }
  if (!ask(requests.posted())) return;
  std::map<Place, Evidence> known;
  for (const NeighboursRequest& request : requests) {
    for (const NeighbourRow& row : request.rows) known[{row.port, row.address}].add(row);
  }
  std::erase_if(told_, [&](const auto& one) { return !known.contains(one.first); });
  size_t lost_count = 0;
  for (const auto& [place, evidence] : known) {
    const auto told = told_.find(place);
    const bool is_told_lost = told != told_.end() && told->second.is_lost;
    const std::string name =
        fmt::format("neighbour {} of port {}", place.second.format(), place.first);
    if (is_told_lost && evidence.reachable && *evidence.reachable >= told->second.since) {
      told->second = {false, *evidence.reachable};
      config_.tell(Severity::kNotice, name + " answers again");
    } else if (!is_told_lost && evidence.was_known && evidence.failed &&
               evidence.failed > evidence.reachable &&
               (told == told_.end() || *evidence.failed > told->second.since)) {
      told_[place] = {true, *evidence.failed};
      if (++lost_count <= kNeighboursToldMax) {
        config_.tell(Severity::kWarning, name + " does not answer");
      }
    }
  }
  if (lost_count > kNeighboursToldMax) {
    config_.tell(Severity::kWarning, fmt::format("and {} more neighbours do not answer",
                                                 lost_count - kNeighboursToldMax));
  }
}

EventWatcher::EventWatcher(EventWatch::Config config)
    : watch_(std::move(config)), thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested() && watch_.look(EventWatch::Clock::now())) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, stop, kLookEvery, [] { return false; });
        }
      }) {}

}  // namespace roost::control

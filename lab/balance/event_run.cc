#include "lab/balance/event_run.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "lab/balance/moves.h"
#include "roost/hash/keyed_hash.h"
#include "roost/table/flow_table.h"
#include "roost/traffic/connection_stream.h"
#include "roost/traffic/key_source.h"

namespace roost::lab {
namespace {

using Table = FlowTable<traffic::Key128, uint32_t>;

constexpr size_t kNotListed = SIZE_MAX;
constexpr double kSampleFrom = 0.15;    // of the stream: connections have begun to end by then
constexpr double kSampleEvery = 0.005;  // of the stream

uint32_t heaviest(const Scenario& scenario) {
  uint32_t weight = scenario.weight;
  for (const BackendEvent& event : scenario.events) weight = std::max(weight, event.weight);
  return weight;
}

// A connection as its ends know it.
struct Connection {
  uint32_t first = 0;     // backend
  unsigned failures = 0;  // of that backend, when it began
  uint32_t epoch = 0;     // of the balancer, when that last counted it
  bool is_over = true;
};

class EventRun {
 public:
  EventRun(const EventRunConfig& config, traffic::ConnectionStream stream,
           std::optional<Table> table)
      : config_(config),
        stream_(std::move(stream)),
        table_(std::move(table)),
        backends_(config.backends, *config.scenario),
        keys_(config.seed),
        hash_(config.seed),
        connections_(config.connections),
        live_(backends_.count()),
        counts_(config.kind->worker_count, std::vector<uint64_t>(backends_.count())) {
    if (!config.kind->is_by_counts) {
      for (uint64_t i = 0; i < config.probes; ++i) probes_.push_back(hash_of(keys_.absent(i)));
    }
  }

  Result<EventFigures> run() {
    if (auto error = make_chooser()) return *error;
    see_list();
    if (!probes_.empty()) {
      places_ = places_of(*chooser_, probes_, backends_);
      figures_.share_max_over_mean = max_over_mean(places_, backends_);
    }
    figures_.chooser_bytes = chooser_->memory_bytes();
    std::array<traffic::StreamPacket, 64> packets;
    while (const size_t count = stream_.next(packets)) {
      for (size_t i = 0; i < count; ++i) {
        const double now = static_cast<double>(packets[i].nanoseconds) / 1e9 / config_.seconds;
        if (auto error = let_pass(now)) return *error;
        if (auto error = receive(packets[i])) return *error;
      }
    }
    if (samples_ != 0) figures_.live_max_over_mean /= samples_;
    if (table_) figures_.table_bytes = table_->memory_bytes();
    return figures_;
  }

 private:
  [[nodiscard]] uint64_t hash_of(const traffic::Key128& key) const {
    return hash_.hash<sizeof(key)>(&key).bits;
  }

  std::optional<Error> make_chooser() {
    auto made = config_.kind->make({.backends = backends_.list(),
                                    .seed = config_.seed,
                                    .backends_max = static_cast<uint32_t>(2 * backends_.count()),
                                    .weight_max = heaviest(*config_.scenario)});
    if (!made) return made.error();
    chooser_ = std::move(made).value();
    return {};
  }

  // The balancer's counts stand at the indices of its list.
  void see_list() {
    indices_.assign(backends_.count(), kNotListed);
    for (size_t i = 0; i < backends_.numbers().size(); ++i) indices_[backends_.numbers()[i]] = i;
    listed_.assign(counts_.size(), {});
    for (size_t worker = 0; worker < counts_.size(); ++worker) {
      for (const size_t number : backends_.numbers()) {
        listed_[worker].push_back(counts_[worker][number]);
      }
    }
  }

  void count(uint32_t flow, size_t backend, bool begins) {
    const size_t worker = flow % counts_.size();
    const uint64_t change = begins ? 1 : ~uint64_t{0};
    counts_[worker][backend] += change;
    if (indices_[backend] != kNotListed) listed_[worker][indices_[backend]] += change;
  }

  // Samples and events that are due.
  std::optional<Error> let_pass(double now) {
    const std::vector<BackendEvent>& events = config_.scenario->events;
    while (next_sample_ <= now && next_sample_ < events.front().at) {
      sample();
      next_sample_ += kSampleEvery;
    }
    for (; next_event_ < events.size() && events[next_event_].at <= now; ++next_event_) {
      if (next_event_ == 0)
        figures_.live = std::accumulate(live_.begin(), live_.end(), uint64_t{0});
      if (auto error = apply(events[next_event_])) return error;
    }
    return {};
  }

  void sample() {
    double greatest = 0;
    double sum = 0;
    double weights = 0;
    for (const size_t number : backends_.numbers()) {
      const auto live = static_cast<double>(live_[number]);
      greatest = std::max(greatest, live / backends_.weight(number));
      sum += live;
      weights += backends_.weight(number);
    }
    if (sum == 0) return;
    figures_.live_max_over_mean += greatest / (sum / weights);
    ++samples_;
  }

  std::optional<Error> apply(const BackendEvent& event) {
    const std::vector<uint32_t> weights = weights_of(backends_);
    const bool has_changed = backends_.apply(event);
    if (event.change == Change::kRestart) {
      if (auto error = make_chooser()) return error;
      if (table_) table_->clear();
      for (std::vector<uint64_t>& of_worker : counts_) std::ranges::fill(of_worker, 0);
      ++epoch_;
    } else if (has_changed) {
      if (auto error = chooser_->change(backends_.list())) return error;
    } else {
      return {};
    }
    see_list();
    if (probes_.empty()) return {};
    std::vector<size_t> places = places_of(*chooser_, probes_, backends_);
    const Moved moved = count_moves(places_, places, weights, backends_);
    figures_.moved += moved.all;
    figures_.moved_min += moved.least;
    figures_.moved_needlessly += moved.needlessly;
    places_ = std::move(places);
    return {};
  }

  // Where a packet goes; nothing if there is no backend.
  std::optional<size_t> place_of(uint32_t flow, const traffic::Key128& key) {
    if (table_) {
      if (const uint32_t* known = table_->find(key)) return *known;
    }
    const auto picked = chooser_->pick(hash_of(key), listed_[flow % listed_.size()]);
    if (!picked) return std::nullopt;
    const size_t backend = backends_.numbers()[*picked];
    if (table_ && table_->insert(key, static_cast<uint32_t>(backend)) == InsertOutcome::kFull) {
      return std::nullopt;
    }
    return backend;
  }

  std::optional<Error> receive(const traffic::StreamPacket& packet) {
    Connection& connection = connections_[packet.flow];
    if (packet.number != 0 && connection.is_over) return {};
    const traffic::Key128 key = keys_.inserted(packet.flow);
    const std::optional<size_t> place = place_of(packet.flow, key);
    if (!place) return Error{config_.kind->name + ": no backend, or no room in the table"};
    if (packet.number == 0) {
      connection = {static_cast<uint32_t>(*place), backends_.failures(*place), epoch_, false};
      ++figures_.connections;
      ++live_[*place];
      count(packet.flow, *place, true);
    }
    const bool has_failed = backends_.failures(connection.first) != connection.failures ||
                            !backends_.is_up(connection.first) || !backends_.is_up(*place);
    const bool has_moved = *place != connection.first;
    if (has_failed || has_moved) {
      ++(has_failed ? figures_.broken_failed : figures_.broken_moved);
    } else if (connection.epoch != epoch_) {
      connection.epoch = epoch_;
      count(packet.flow, *place, true);
    }
    if (has_failed || has_moved || packet.is_last) end(packet.flow, key);
    return {};
  }

  void end(uint32_t flow, const traffic::Key128& key) {
    Connection& connection = connections_[flow];
    connection.is_over = true;
    --live_[connection.first];
    if (connection.epoch == epoch_) count(flow, connection.first, false);
    if (table_) table_->erase(key);
  }

  const EventRunConfig& config_;
  traffic::ConnectionStream stream_;
  std::optional<Table> table_;
  Backends backends_;
  traffic::KeySource keys_;
  KeyedHash hash_;
  std::unique_ptr<Chooser> chooser_;
  std::vector<Connection> connections_;        // by number
  std::vector<uint64_t> live_;                 // by backend
  std::vector<std::vector<uint64_t>> counts_;  // the balancer's, by worker and backend
  std::vector<std::vector<uint64_t>> listed_;  // the same by index in its list
  std::vector<size_t> indices_;                // in the list, by backend
  std::vector<uint64_t> probes_;
  std::vector<size_t> places_;  // of the probes
  uint32_t epoch_ = 0;
  double next_sample_ = kSampleFrom;
  unsigned samples_ = 0;
  size_t next_event_ = 0;
  EventFigures figures_;
};

}  // namespace

Result<EventFigures> run_events(const EventRunConfig& config) {
  const traffic::Profile profile{
      .name = "balance",
      .flows = config.connections,
      .seconds = config.seconds,
      .length = {.law = traffic::LengthLaw::kFixed, .mean = config.packets},
      .flow_seconds = config.flow_seconds};
  auto stream = traffic::ConnectionStream::create({.profile = profile, .seed = config.seed});
  if (!stream) return stream.error();
  std::optional<Table> table;
  if (config.has_table) {
    auto made = Table::create({.entries_max = config.connections, .hash_seed = config.seed});
    if (!made) return made.error();
    table.emplace(std::move(made).value());
  }
  return EventRun(config, std::move(stream).value(), std::move(table)).run();
}

}  // namespace roost::lab

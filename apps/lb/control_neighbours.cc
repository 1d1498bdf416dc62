// What the control shows of neighbours. Each worker has its own, and asks for itself; who looks
// wants to know of a station, so what the workers know of it is one row.
#include "apps/lb/control_neighbours.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "apps/lb/control.h"

namespace roost::lb {

namespace {

using enum node::NeighbourState;

// What is worth most comes first: of several workers' knowledge it is the one that is shown.
constexpr std::array<node::NeighbourState, node::kNeighbourStateCount> kBestFirst = {
    kStatic, kReachable, kProbe, kStale, kLearned, kIncomplete, kFailed, kUnknown};

size_t rank(node::NeighbourState state) {
  return static_cast<size_t>(std::ranges::find(kBestFirst, state) - kBestFirst.begin());
}

bool has_mac(node::NeighbourState state) { return rank(state) <= rank(kLearned); }

// A station, as the worker knows it that knows most.
struct Known {
  NeighbourRow best{};
  uint64_t waiting = 0;
  uint64_t workers = 0;  // that know it
};
using KnownByAddress = std::map<std::pair<uint16_t, net::IpAddress>, Known>;

void add(const NeighbourRow& row, KnownByAddress& known) {
  Known& one = known[{row.port, row.address}];
  if (one.workers == 0 || rank(row.state) < rank(one.best.state)) one.best = row;
  one.waiting += row.waiting;
  ++one.workers;
}

Json station_json(const Known& known) {
  const NeighbourRow& row = known.best;
  const bool is_default = row.address == net::IpAddress();
  return {{"port", row.port},
          {"address", is_default ? "default" : row.address.format()},
          {"mac", has_mac(row.state) ? Json(row.mac.format()) : Json()},
          {"state", node::kNeighbourStateNames[static_cast<size_t>(row.state)]},
          {"configured", row.is_pinned},
          {"waiting", known.waiting},
          {"workers", known.workers}};
}

}  // namespace

NeighboursRequest::NeighboursRequest(const State& state)
    : table_(state.next_hops().neighbours().table()) {
  rows.reserve(table_.entry_count_max());
}

bool NeighboursRequest::step() {
  const node::NeighbourIndex end = std::min(next_ + kEntriesAStep, table_.entry_count_max());
  for (; next_ < end; ++next_) {
    const node::NeighbourEntry& entry = table_.entry(next_);
    if (entry.is_free) continue;
    rows.push_back({entry.port, entry.address, entry.mac, entry.state, entry.is_pinned,
                    entry.waiting.count, entry.since});
  }
  return next_ == table_.entry_count_max();
}

// By one worker: the network is told once.
Result<Json> Control::announce() {
  std::vector<node::Request*> posted(config_.workers.size(), nullptr);
  AnnounceRequest request(*config_.workers.front().state);
  posted.front() = &request;
  if (auto error = ask_all(posted)) return *error;
  const LocalAddresses local = local_addresses(lb_config_, virtual_addresses(layout_));
  return Json{{"addresses", local.asked.size()}};
}

Result<Json> Control::neighbours(const Json& parameters) {
  std::deque<NeighboursRequest> requests;
  std::vector<node::Request*> posted;
  for (const ControlledWorker& worker : config_.workers) {
    posted.push_back(&requests.emplace_back(*worker.state));
  }
  if (auto error = ask_all(posted)) return *error;
  KnownByAddress known;
  for (const NeighboursRequest& request : requests) {
    for (const NeighbourRow& row : request.rows) add(row, known);
  }
  const std::string wanted = parameters.value("state", "");
  Json rows = Json::array();
  for (const auto& [where, one] : known) {
    Json row = station_json(one);
    if (wanted.empty() || row["state"] == wanted) rows.push_back(std::move(row));
  }
  return Json{{"neighbours", std::move(rows)}};
}

}  // namespace roost::lb

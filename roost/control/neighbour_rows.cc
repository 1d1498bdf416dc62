// What the control shows of neighbours. Each worker has a cache of its own; an operator asks for a
// station, so its entries of all workers are one row.
#include "roost/control/neighbour_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace roost::control {

namespace {

using enum l3::NeighbourState;

// What is worth most comes first: of several workers' knowledge it is the one that is shown.
constexpr std::array<l3::NeighbourState, l3::kNeighbourStateCount> kBestFirst = {
    kStatic, kReachable, kProbe, kStale, kLearned, kIncomplete, kFailed, kUnknown};

size_t rank(l3::NeighbourState state) {
  return static_cast<size_t>(std::ranges::find(kBestFirst, state) - kBestFirst.begin());
}

bool has_mac(l3::NeighbourState state) { return rank(state) <= rank(kLearned); }

// A station: the best of its entries in all workers.
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
          {"state", l3::kNeighbourStateNames[static_cast<size_t>(row.state)]},
          {"configured", row.is_pinned},
          {"waiting", known.waiting},
          {"workers", known.workers}};
}

}  // namespace

NeighboursRequest::NeighboursRequest(const l3::Neighbours& neighbours)
    : table_(neighbours.table()) {
  rows.reserve(table_.entry_count_max());
}

bool NeighboursRequest::step() {
  const l3::NeighbourIndex end = std::min(next_ + kEntriesAStep, table_.entry_count_max());
  for (; next_ < end; ++next_) {
    const l3::NeighbourEntry& entry = table_.entry(next_);
    if (entry.is_free) continue;
    rows.push_back({entry.port, entry.address, entry.mac, entry.state, entry.is_pinned,
                    entry.waiting.count, entry.since});
  }
  return next_ == table_.entry_count_max();
}

Json neighbour_rows_json(const Requests<NeighboursRequest>& requests, std::string_view state) {
  KnownByAddress known;
  for (const NeighboursRequest& request : requests) {
    for (const NeighbourRow& row : request.rows) add(row, known);
  }
  Json rows = Json::array();
  for (const auto& [where, one] : known) {
    Json row = station_json(one);
    if (state.empty() || row["state"] == state) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace roost::control

#include "apps/lb/control/control_requests.h"

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::lb {

namespace {

template <class Address>
TableSample sample_of(const Family<Address>& family) {
  const ConnectionTable<Address>& table = family.connections();
  return {table.size(), table.capacity(), table.memory_bytes(), table.page_kind(), table.isa()};
}

// Copies up to `count_max` counters from `first` on; how many.
template <class Address>
size_t copy_counters(const Family<Address>& family, size_t first, size_t count_max,
                     std::vector<BackendCounters>& into) {
  const auto& backends = family.services().backends();
  ROOST_ASSERT(into.size() == backends.size());
  const size_t count = std::min(count_max, backends.size() - first);
  for (size_t i = first; i < first + count; ++i) into[i] = backends[i].counters;
  return count;
}

}  // namespace

SampleRequest::SampleRequest(const control::WorkerHandle& worker, const State& state,
                             const BackendRegistry& registry, size_t port_count)
    : control::SampleRequest(worker, port_count), state_(state) {
  for (size_t family = 0; family < backends.size(); ++family) {
    backends[family].resize(registry.families[family].backends.size());
  }
}

// The first step takes all numbers that must fit together; the backends' follow.
bool SampleRequest::step() {
  if (family_ == 0 && next_backend_ == 0) {
    read();
    flows = state_.counts();
    fragments = state_.fragment_report();
    forgotten = state_.forgotten();
    tables = {sample_of(state_.ipv4()), sample_of(state_.ipv6())};
  }
  size_t room = kCountersAStep;
  while (room != 0 && family_ < backends.size()) {
    std::vector<BackendCounters>& counters = backends[family_];
    const size_t copied = family_ == 0
                              ? copy_counters(state_.ipv4(), next_backend_, room, counters)
                              : copy_counters(state_.ipv6(), next_backend_, room, counters);
    room -= copied;
    next_backend_ += copied;
    if (next_backend_ == counters.size()) {
      ++family_;
      next_backend_ = 0;
    }
  }
  return family_ == backends.size();
}

bool SetWeightsRequest::step() {
  if (next_ == changes_.size()) return true;
  Change& change = changes_[next_++];
  if (change.is_ipv6) {
    state_.ipv6().services().change_weights(change.service, change.weights, change.maglev);
  } else {
    state_.ipv4().services().change_weights(change.service, change.weights, change.maglev);
  }
  return next_ == changes_.size();
}

FlowsRequest::FlowsRequest(State& state, const Config& config)
    : place(config.place), state_(state), config_(config) {
  if (config.action == Action::kList) {
    ROOST_ASSERT(config.rows_max >= kRowsMin);
    rows.reserve(config.rows_max + kRowsMin);
  }
  for (size_t family = 0; family < counts.size(); ++family) {
    counts[family].resize(config.filter->backends[family].size());
  }
}

bool FlowsRequest::step() {
  for (int i = 0; i < kBucketsAStep; ++i) {
    if (place.is_end() || is_page_full_) return true;
    const bool has_more =
        place.family == 0 ? walk_bucket(state_.ipv4()) : walk_bucket(state_.ipv6());
    if (!has_more && !is_page_full_) place = {place.family + 1, 0};
  }
  return place.is_end() || is_page_full_;
}

// One bucket. Rows that the page has no room for are the next page's, with their whole bucket.
template <class Address>
bool FlowsRequest::walk_bucket(Family<Address>& family) {
  const size_t rows_before = rows.size();
  Cursor cursor{place.slot};
  const bool has_more = family.connections().walk(
      cursor, 1, [&](const net::FlowKey<Address>& key, const Connection& connection) {
        bool is_deleted = false;
        if (meets(family, key, connection, is_deleted)) ++matched;
        ++visited;
        return is_deleted;
      });
  if (config_.action == Action::kList && rows.size() > config_.rows_max) {
    matched -= rows.size() - rows_before;
    rows.resize(rows_before);
    is_page_full_ = true;
    return true;
  }
  place.slot = cursor.next_slot;
  return has_more;
}

template <class Address>
bool FlowsRequest::meets(Family<Address>& family, const net::FlowKey<Address>& key,
                         const Connection& connection, bool& is_deleted) {
  constexpr size_t kFamily = net::FlowKey<Address>::kIsIpv6 ? 1 : 0;
  const FlowFilter& filter = *config_.filter;
  const FlowClass flow_class = connection.flow_class();
  if (!filter.states[static_cast<size_t>(connection.state)] ||
      !filter.classes[static_cast<size_t>(flow_class)] ||
      !filter.backends[kFamily][connection.owner] ||
      (filter.client && !filter.client->contains(key.source))) {
    return false;
  }
  switch (config_.action) {
    case Action::kList:
      rows.push_back({key.source,
                      key.source_port,
                      static_cast<uint32_t>(connection.owner),
                      {},
                      connection.state,
                      flow_class});
      if (family.services().backend(connection.owner).mode == Mode::kFullnat) {
        const auto local = family.connections().bound_end(connection);
        rows.back().local.emplace(local.address, local.port);
      }
      break;
    case Action::kCount:
      ++counts[kFamily][connection.owner][static_cast<size_t>(connection.state)];
      ++class_counts[static_cast<size_t>(flow_class)];
      break;
    case Action::kDelete:
      is_deleted = true;
      break;
  }
  return true;
}

}  // namespace roost::lb

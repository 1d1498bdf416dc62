#include "apps/lb/control/control_requests.h"

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::lb {

namespace {

template <class Address>
TableSample sample_of(const Family<Address>& family) {
  const ConnectionTable<Address>& table = family.connections();
  return {table.size(), table.capacity(), family.tracker().memory_bytes(), table.page_kind(),
          table.isa()};
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
    flows = state_.tracker().counts();
    fragments = state_.tracker().fragment_report();
    resets = state_.resets();
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
    state_.ipv6().services().change_weights(change.service, change.weights, change.choice);
  } else {
    state_.ipv4().services().change_weights(change.service, change.weights, change.choice);
  }
  return next_ == changes_.size();
}

}  // namespace roost::lb

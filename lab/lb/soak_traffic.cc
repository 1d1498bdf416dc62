#include "lab/lb/soak_traffic.h"

#include <algorithm>

#include "apps/lb/datapath/backend_registry.h"
#include "roost/base/assert.h"

namespace roost::lab {
namespace {

// Flows of the flood have odd numbers, all others even ones.
constexpr uint64_t number_of(uint64_t flow) { return (2 * flow) % kFlowsMax; }
constexpr uint64_t number_of_flood(uint64_t flow) { return (2 * flow + 1) % kFlowsMax; }

constexpr uint64_t kBatchesPerTick = 4'000;  // one for so many places
constexpr size_t kFloodLanes = 6;            // of a batch
constexpr uint8_t kFin = net::tcp::kFin | net::tcp::kAck;

}  // namespace

SoakTraffic::SoakTraffic(lb::State& state, lb::Datapath& datapath, uint64_t connections)
    : state_(state),
      datapath_(datapath),
      batches_per_tick_(std::max<uint64_t>(1, connections / kBatchesPerTick)),
      flows_per_batch_(kLoad * static_cast<double>(connections) /
                       static_cast<double>(kHeldTicks * batches_per_tick_)),
      active_max_(static_cast<uint64_t>(flows_per_batch_ *
                                        static_cast<double>(kActiveTicks * batches_per_tick_))),
      backends_(active_max_ + 2 * net::kBatchLanesMax, kNoBackend) {}

void SoakTraffic::prepare(bool with_flood) {
  frames_.clear();
  ++batch_number_;
  flows_due_ += flows_per_batch_;
  while (flows_due_ >= 1 && lanes_left() >= 5) {
    flows_due_ -= 1;
    if (next_flow_ - oldest_flow_ >= active_max_) close_or_forget_flow();
    begin_flow();
  }
  for (size_t i = 0; with_flood && i < kFloodLanes && lanes_left() > 0; ++i) {
    flows_[frames_.lane_count()] = next_flood_;
    push(Kind::kFlood, request_of(number_of_flood(next_flood_++), net::tcp::kSyn));
  }
  while (lanes_left() > 0) {
    const size_t before = lanes_left();
    use_next_flow();
    if (lanes_left() == before) break;  // there is none yet
  }
}

void SoakTraffic::push(Kind kind, const Frame& frame) {
  kinds_[frames_.lane_count()] = kind;
  frames_.push(frame);
}

// The whole handshake in one batch, so that a flow is assured or was refused.
void SoakTraffic::begin_flow() {
  const uint64_t flow = next_flow_++;
  const auto backend = state_.ipv4().services().pick_backend(0, key_of(number_of(flow)));
  ROOST_ASSERT(backend.has_value());
  backend_of(flow) = static_cast<uint8_t>(*backend);
  for (size_t i = 0; i < 3; ++i) flows_[frames_.lane_count() + i] = flow;
  push(Kind::kSyn, request_of(number_of(flow), net::tcp::kSyn));
  push(Kind::kAnswerToSyn, answer_of(number_of(flow), *backend, net::tcp::kSyn | net::tcp::kAck));
  push(Kind::kAssurance, request_of(number_of(flow)));
}

void SoakTraffic::close_or_forget_flow() {
  const uint64_t flow = oldest_flow_++;
  if (backend_of(flow) == kNoBackend || flow % 2 == 0) return;
  for (size_t i = 0; i < 2; ++i) flows_[frames_.lane_count() + i] = flow;
  push(Kind::kClose, request_of(number_of(flow), kFin));
  push(Kind::kClose, answer_of(number_of(flow), backend_of(flow), kFin));
}

// A packet of the flow whose turn it is, the client's in one round and the backend's in the next.
// Flows of this batch are not known to be there yet.
void SoakTraffic::use_next_flow() {
  uint64_t fresh = next_flow_;
  for (size_t lane = 0; lane < frames_.lane_count(); ++lane)
    if (kinds_[lane] == Kind::kSyn) fresh = std::min(fresh, flows_[lane]);
  for (size_t tries = 0; tries < net::kBatchLanesMax; ++tries) {
    ++used_flow_;
    if (used_flow_ < oldest_flow_ || used_flow_ >= fresh) {
      used_flow_ = oldest_flow_;
      answers_ = !answers_;
    }
    if (used_flow_ >= fresh) return;
    if (backend_of(used_flow_) == kNoBackend) continue;
    flows_[frames_.lane_count()] = used_flow_;
    const uint64_t number = number_of(used_flow_);
    push(Kind::kUse, answers_ ? answer_of(number, backend_of(used_flow_)) : request_of(number));
    return;
  }
}

void SoakTraffic::judge() {
  counts_.packets += frames_.lane_count();
  for (size_t lane = 0; lane < frames_.lane_count(); ++lane) {
    const bool is_forwarded = frames_.batch().verdicts()[lane].is_forward();
    switch (kinds_[lane]) {
      case Kind::kFlood:
        ++counts_.flood;
        counts_.flood_created += is_forwarded ? 1 : 0;
        break;
      case Kind::kSyn:
        ++(is_forwarded ? counts_.begun : counts_.refused);
        if (!is_forwarded) backend_of(flows_[lane]) = kNoBackend;
        break;
      case Kind::kAnswerToSyn:
        if (backend_of(flows_[lane]) != kNoBackend && !is_forwarded) ++counts_.lost;
        break;
      case Kind::kAssurance:
        // Refused when it asked, a flow may find a place now: picked up, and forgotten at once.
        if (backend_of(flows_[lane]) != kNoBackend) {
          counts_.lost += is_forwarded ? 0 : 1;
        } else {
          counts_.flood_created += is_forwarded ? 1 : 0;
        }
        break;
      case Kind::kClose:
        counts_.closed += is_forwarded ? 1 : 0;
        [[fallthrough]];
      case Kind::kUse:
        counts_.lost += is_forwarded ? 0 : 1;
        break;
    }
  }
}

// In steps of a tick, so that sweeps are as due as they would be.
void SoakTraffic::fall_silent() {
  frames_.clear();
  for (uint64_t tick = 0; tick <= kEstablishedTicks; ++tick) {
    batch_number_ += batches_per_tick_;
    datapath_.idle(now(), kIdleBudget);
  }
}

}  // namespace roost::lab

#include "tests/lb/naive_balancer.h"

#include <algorithm>

namespace roost::lb {

namespace {

constexpr uint8_t kFin = 1, kSyn = 2, kRst = 4;

}  // namespace

NaiveBalancer::Flow* NaiveBalancer::find(const FlowId& id) {
  const auto place = flows_.find(id);
  if (place == flows_.end()) return nullptr;
  if (now_ <= place->second.deadline) return &place->second;
  bury(id, place->second);
  flows_.erase(place);
  return nullptr;
}

void NaiveBalancer::bury(const FlowId&, const Flow& flow) {
  if (flow.is_tcp && flow.is_closed()) {
    ++ended_;
  } else {
    ++expired_;
  }
}

std::optional<unsigned> NaiveBalancer::backend_of(const FlowId& id) const {
  const auto place = backends_.find(id);
  return place == backends_.end() ? std::nullopt : std::optional(place->second);
}

void NaiveBalancer::see(Flow& flow, bool is_from_client, uint8_t flags) {
  uint64_t timeout = timeouts_.udp;
  if (flow.is_tcp) {
    if (!flow.is_closed()) {
      if ((flags & kRst) != 0) {
        flow.was_reset = true;
      } else if ((flags & kFin) != 0) {
        (is_from_client ? flow.has_client_finished : flow.has_backend_finished) = true;
      } else if (is_from_client && (flags & kSyn) == 0) {
        flow.was_established = true;
      }
    }
    if (flow.is_closed()) {
      timeout = timeouts_.closed;
    } else if (flow.has_client_finished || flow.has_backend_finished) {
      timeout = timeouts_.closing;
    } else {
      timeout = flow.was_established ? timeouts_.established : timeouts_.syn;
    }
  }
  flow.deadline = now_ + timeout;
}

bool NaiveBalancer::is_taken(const FlowId& id, bool is_tcp, unsigned backend) {
  const auto owner = replies_.find({is_tcp, backend, id.client, id.port});
  return owner != replies_.end() && owner->second != id && find(owner->second) != nullptr;
}

std::optional<DropCause> NaiveBalancer::from_client(const FlowId& id, bool is_tcp, uint8_t flags,
                                                    std::optional<unsigned> backend) {
  if (Flow* flow = find(id)) {
    const bool is_only_syn = (flags & (kSyn | kFin | kRst)) == kSyn;
    if (is_tcp && flow->is_closed() && is_only_syn) {
      ++ended_;
      ++made_;
      *flow = {is_tcp, flow->backend};
    }
    see(*flow, true, flags);
    return {};
  }
  if (is_tcp && (flags & kRst) != 0) return DropCause::kNoFlow;
  const unsigned chosen = backend.value_or(backend_of(id).value_or(0));
  if (is_taken(id, is_tcp, chosen)) return DropCause::kReplyTupleTaken;
  Flow& flow = flows_[id] = {is_tcp, chosen};
  replies_[{is_tcp, chosen, id.client, id.port}] = id;
  backends_[id] = chosen;
  ++made_;
  see(flow, true, flags);
  return {};
}

std::optional<NaiveBalancer::FlowId> NaiveBalancer::from_backend(const ReplyId& id, uint8_t flags) {
  const auto owner = replies_.find(id);
  if (owner == replies_.end()) return {};
  Flow* flow = find(owner->second);
  if (flow == nullptr) return {};
  see(*flow, false, flags);
  return owner->second;
}

NaiveBalancer::Counts NaiveBalancer::count() {
  std::erase_if(flows_, [this](const auto& entry) {
    if (now_ <= entry.second.deadline) return false;
    bury(entry.first, entry.second);
    return true;
  });
  return {made_, flows_.size(), ended_, expired_};
}

}  // namespace roost::lb

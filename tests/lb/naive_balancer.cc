#include "tests/lb/naive_balancer.h"

#include <algorithm>

namespace roost::lb {

namespace {

constexpr uint8_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;

}  // namespace

NaiveBalancer::Flow* NaiveBalancer::find(const FlowId& id) {
  const auto place = flows_.find(id);
  if (place == flows_.end()) return nullptr;
  if (now_ <= place->second.deadline) return &place->second;
  remove(id, place->second);
  flows_.erase(place);
  return nullptr;
}

void NaiveBalancer::remove(const FlowId&, const Flow& flow) {
  if (flow.is_tcp && flow.is_over()) {
    ++ended_;
  } else {
    ++expired_;
  }
}

std::optional<unsigned> NaiveBalancer::backend_of(const FlowId& id) {
  if (const Flow* flow = find(id)) return flow->backend;
  const auto place = backends_.find(id);
  return place == backends_.end() ? std::nullopt : std::optional(place->second);
}

void NaiveBalancer::see_first(Flow& flow, uint8_t flags) {
  flow.has_client_finished = flow.is_tcp && (flags & kFin) != 0;
  flow.is_opening = flow.is_tcp && (flags & (kFin | kSyn)) == kSyn;
  flow.deadline = now_ + silence_allowed(flow);
}

// A SYN-ACK is a reply; a flow whose SYN was not seen was there before the balancer.
void NaiveBalancer::see_contact(Flow& flow, bool is_from_client, uint8_t flags) {
  if ((flags & kRst) != 0) return;
  const bool is_syn = (flags & kSyn) != 0;
  const bool has_begun = (!flow.is_opening || flow.has_backend_accepted) && !flow.was_reset;
  if (is_from_client) {
    const bool acknowledges = (flags & kAck) != 0 && !is_syn;
    flow.is_assured |= flow.is_answered && acknowledges;
  } else if (!flow.is_answered) {
    flow.is_answered = true;
    flow.is_assured |= has_begun && !is_syn;
  }
}

void NaiveBalancer::see_progress(Flow& flow, bool is_from_client, uint8_t flags) {
  const bool is_closed = flow.has_client_finished && flow.has_backend_finished && !flow.was_reset;
  if (is_closed) return;
  if ((flags & kRst) != 0) {
    flow.was_reset = true;
    flow.has_client_spoken_on = flow.has_backend_spoken_on = false;
  } else if (flow.was_reset) {
    if ((flags & (kFin | kSyn)) != 0) {
      flow.has_client_spoken_on = flow.has_backend_spoken_on = false;
      return;
    }
    (is_from_client ? flow.has_client_spoken_on : flow.has_backend_spoken_on) = true;
    if (!flow.has_client_spoken_on || !flow.has_backend_spoken_on) return;
    flow.was_reset = flow.is_opening = false;
    flow.has_client_finished = flow.has_backend_finished = false;
  } else if (flow.is_opening && !flow.has_backend_accepted) {
    flow.has_backend_accepted = !is_from_client && (flags & (kFin | kSyn)) == kSyn;
  } else if ((flags & kFin) != 0) {
    (is_from_client ? flow.has_client_finished : flow.has_backend_finished) = true;
    flow.is_opening = false;
  } else if (is_from_client) {
    flow.is_opening = false;
  }
}

uint64_t NaiveBalancer::silence_allowed(const Flow& flow) const {
  if (!flow.is_tcp) return timeouts_.udp;
  uint64_t allowed = timeouts_.established;
  if (flow.is_over()) {
    allowed = timeouts_.closed;
  } else if (flow.has_client_finished || flow.has_backend_finished) {
    allowed = timeouts_.closing;
  } else if (flow.is_opening) {
    allowed = timeouts_.syn;
  }
  return flow.is_assured ? allowed : std::min(allowed, timeouts_.syn);
}

void NaiveBalancer::see(Flow& flow, bool is_from_client, uint8_t flags) {
  const bool was_over = flow.is_over();
  // A client's SYN where there is a connection is nothing, whatever else it says.
  const bool is_nothing =
      flow.is_tcp && is_from_client && (flags & kSyn) != 0 && (flags & kRst) == 0;
  if (flow.is_tcp && !is_nothing) {
    see_contact(flow, is_from_client, flags);
    see_progress(flow, is_from_client, flags);
  }
  const uint64_t deadline = now_ + silence_allowed(flow);
  if (!flow.is_tcp || flow.is_assured) {
    flow.deadline = deadline;
  } else if (flow.is_over() && !was_over) {
    flow.deadline = std::min(flow.deadline, deadline);
  }
}

bool NaiveBalancer::is_taken(const FlowId& id, bool is_tcp, unsigned backend) {
  const auto owner = replies_.find({is_tcp, backend, id.client, id.port});
  if (owner == replies_.end() || owner->second == id) return false;
  const Flow* const flow = find(owner->second);
  return flow != nullptr && flow->backend == backend;
}

std::optional<DropCause> NaiveBalancer::from_client(const FlowId& id, bool is_tcp, uint8_t flags,
                                                    std::optional<unsigned> backend) {
  if (Flow* flow = find(id)) {
    const bool is_only_syn = (flags & (kSyn | kFin | kRst)) == kSyn;
    if (is_tcp && flow->is_over() && is_only_syn) {
      ++ended_;
      ++created_;
      *flow = {is_tcp, flow->backend};
      see_first(*flow, flags);
      return {};
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
  ++created_;
  see_first(flow, flags);
  return {};
}

std::optional<NaiveBalancer::FlowId> NaiveBalancer::from_backend(const ReplyId& id, uint8_t flags) {
  const auto owner = replies_.find(id);
  if (owner != replies_.end()) {
    Flow* const flow = find(owner->second);
    if (flow != nullptr && flow->backend == id.backend) {
      see(*flow, false, flags);
      return owner->second;
    }
  }
  // It was there before the balancer, if its service is certain.
  const auto service = services_by_backend_.find({id.is_tcp, id.backend});
  if (service == services_by_backend_.end()) return {};
  if (id.is_tcp && (flags & (kSyn | kRst)) != 0) return {};
  const FlowId begun{service->second, id.client, id.port};
  if (find(begun) != nullptr) return {};  // the client's flow is with another backend
  Flow& flow = flows_[begun] = {id.is_tcp, id.backend};
  flow.has_backend_finished = id.is_tcp && (flags & kFin) != 0;
  flow.is_answered = flow.is_assured = true;
  flow.deadline = now_ + silence_allowed(flow);
  replies_[id] = begun;
  ++created_;
  return begun;
}

NaiveBalancer::Counts NaiveBalancer::count() {
  std::erase_if(flows_, [this](const auto& entry) {
    if (now_ <= entry.second.deadline) return false;
    remove(entry.first, entry.second);
    return true;
  });
  return {created_, flows_.size(), ended_, expired_};
}

}  // namespace roost::lb

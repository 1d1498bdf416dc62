#include "roost/control/static_mappings.h"

#include <algorithm>
#include <utility>

#include "roost/base/assert.h"
#include "roost/control/ask_workers.h"

namespace roost::control {

namespace {

using conntrack::Held;
using conntrack::StaticMapping;

struct OwnMapping {
  StaticMapping mapping{};
  conntrack::BoundPort bound{};
};

// Of `mappings` those of the worker that are not among `others`.
std::vector<OwnMapping> own_mappings(std::span<const StaticMapping> mappings,
                                     std::span<const StaticMapping> others, size_t worker,
                                     const Held& held) {
  std::vector<OwnMapping> own;
  for (const StaticMapping& one : mappings) {
    const auto index = held.external.index_of(one.external.address);
    const bool is_there =
        std::ranges::any_of(others, [&](const StaticMapping& other) { return other.is_same(one); });
    if (!index || is_there || held.external.worker_of(*index) != worker) continue;
    own.push_back({one, {*index, one.external.port}});
  }
  return own;
}

// Keeps the ports of all, or of none.
class ReserveRequest final : public node::Request {
 public:
  ReserveRequest(Held& held, std::vector<OwnMapping> added)
      : held_(held), added_(std::move(added)) {}
  bool step() override {
    for (const OwnMapping& one : added_) {
      if (held_.mappings.reserve(one.mapping.protocol, one.bound)) {
        ++reserved_;
        continue;
      }
      taken_ = one.mapping;
      break;
    }
    return true;
  }
  [[nodiscard]] const std::optional<StaticMapping>& taken() const { return taken_; }
  // Those whose ports are kept.
  [[nodiscard]] std::span<const OwnMapping> reserved() const {
    return std::span(added_).first(reserved_);
  }

 private:
  Held& held_;
  std::vector<OwnMapping> added_;
  size_t reserved_ = 0;
  std::optional<StaticMapping> taken_{};
};

class CancelRequest final : public node::Request {
 public:
  CancelRequest(Held& held, std::span<const OwnMapping> reserved)
      : held_(held), reserved_(reserved) {}
  bool step() override {
    for (const OwnMapping& one : reserved_) held_.mappings.cancel(one.mapping.protocol, one.bound);
    return true;
  }

 private:
  Held& held_;
  std::span<const OwnMapping> reserved_;
};

// New ones first: an endpoint whose port moves has one all the time.
class TakeStaticRequest final : public node::Request {
 public:
  TakeStaticRequest(Held& held, std::span<const OwnMapping> added, std::vector<OwnMapping> removed,
                    conntrack::ExternalAddresses external)
      : held_(held), added_(added), removed_(std::move(removed)), external_(std::move(external)) {}
  bool step() override {
    for (const OwnMapping& one : added_)
      held_.mappings.add_static(one.mapping.protocol, one.bound, one.mapping.inside);
    for (const OwnMapping& one : removed_)
      held_.mappings.remove_static(one.mapping.protocol, one.bound);
    std::swap(held_.external, external_);
    return true;
  }

 private:
  Held& held_;
  std::span<const OwnMapping> added_;
  std::vector<OwnMapping> removed_;
  conntrack::ExternalAddresses external_;  // afterwards those of before
};

}  // namespace

void begin_static_mappings(std::span<const StaticMapping> forwards, size_t worker, Held& held) {
  for (const OwnMapping& one : own_mappings(forwards, {}, worker, held)) {
    const bool is_free = held.mappings.reserve(one.mapping.protocol, one.bound);
    ROOST_ASSERT(is_free);
    held.mappings.add_static(one.mapping.protocol, one.bound, one.mapping.inside);
  }
}

StaticOutcome exchange_static_mappings(node::WorkerMailboxes& mailboxes,
                                       std::span<Held* const> held, const StaticExchange& exchange,
                                       std::string_view function) {
  Requests<ReserveRequest> reserving;
  for (size_t worker = 0; worker < held.size(); ++worker) {
    reserving.add(*held[worker],
                  own_mappings(exchange.after, exchange.before, worker, *held[worker]));
  }
  StaticOutcome outcome{.error = ask_workers(mailboxes, reserving.posted()).error(function)};
  for (const ReserveRequest& one : reserving) {
    if (one.taken()) outcome.taken = one.taken();
  }
  const conntrack::ExternalAddresses external(exchange.addresses, held.size(), exchange.after);
  Requests<CancelRequest> cancelling;
  Requests<TakeStaticRequest> taking;
  for (size_t worker = 0; worker < held.size(); ++worker) {
    const auto reserved = reserving[worker].reserved();
    cancelling.add(*held[worker], reserved);
    taking.add(*held[worker], reserved,
               own_mappings(exchange.before, exchange.after, worker, *held[worker]), external);
  }
  const bool is_refused = outcome.error || outcome.taken;
  const Asked asked = ask_until_done(mailboxes, is_refused ? cancelling.posted() : taking.posted());
  if (!outcome.error) outcome.error = asked.error(function);
  return outcome;
}

}  // namespace roost::control

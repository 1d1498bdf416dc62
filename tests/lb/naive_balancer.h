// The load balancer as a novice would write it: maps, no tables, no batches, no timers. It predicts
// what becomes of every packet, and is told only which backend a new connection got; that choice
// must be the same whenever the same client comes back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "apps/lb/drop_cause.h"

namespace roost::lb {

class NaiveBalancer {
 public:
  // Services, clients and backends are numbers; who they are is the test's business.
  struct FlowId {
    unsigned service = 0;
    unsigned client = 0;
    uint16_t port = 0;
    auto operator<=>(const FlowId&) const = default;
  };
  struct ReplyId {
    bool is_tcp = false;
    unsigned backend = 0;
    unsigned client = 0;
    uint16_t port = 0;
    auto operator<=>(const ReplyId&) const = default;
  };
  struct Timeouts {
    uint64_t syn, established, closing, closed, udp;
  };

  explicit NaiveBalancer(Timeouts timeouts) : timeouts_(timeouts) {}

  void set_time(uint64_t now) { now_ = now; }

  // What must become of a client's packet. `backend` is the one the balancer sent it to.
  std::optional<DropCause> from_client(const FlowId& id, bool is_tcp, uint8_t flags,
                                       std::optional<unsigned> backend);
  // Whether a new connection of this client would find its reply tuple taken on this backend.
  bool is_taken(const FlowId& id, bool is_tcp, unsigned backend);

  // The flow that a backend's packet belongs to; nothing when it must be dropped as no_flow.
  std::optional<FlowId> from_backend(const ReplyId& id, uint8_t flags);

  bool is_live(const FlowId& id) { return find(id) != nullptr; }
  // The backend this client had when it was last seen.
  std::optional<unsigned> backend_of(const FlowId& id) const;

  struct Counts {
    uint64_t made = 0, live = 0, ended = 0, expired = 0;
  };
  Counts count();
  uint64_t made() const { return made_; }

 private:
  struct Flow {
    bool is_tcp;
    unsigned backend;
    bool was_established = false;
    bool has_client_finished = false;
    bool has_backend_finished = false;
    bool was_reset = false;
    uint64_t deadline = 0;

    bool is_closed() const { return was_reset || (has_client_finished && has_backend_finished); }
  };

  Flow* find(const FlowId& id);
  void see(Flow& flow, bool is_from_client, uint8_t flags);
  void bury(const FlowId& id, const Flow& flow);

  Timeouts timeouts_;
  uint64_t now_ = 0;
  std::map<FlowId, Flow> flows_;
  std::map<ReplyId, FlowId> replies_;    // who made it last
  std::map<FlowId, unsigned> backends_;  // of every client ever
  uint64_t made_ = 0, ended_ = 0, expired_ = 0;
};

}  // namespace roost::lb

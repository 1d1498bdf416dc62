// The load balancer as a novice would write it: maps, no tables, no batches, no timers. It predicts
// what becomes of every packet, and is told only which backend a new connection got; that choice
// must be the same whenever the same client comes back.
//
// Its packets all stand where their streams do: connection_test.cc has the others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "apps/lb/datapath/drop_cause.h"

namespace roost::lb {

class NaiveBalancer {
 public:
  // Services, clients and backends are numbers; what they are is the test's business.
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

  // A backend's end that one service has only: which one.
  struct BackendId {
    bool is_tcp = false;
    unsigned backend = 0;
    auto operator<=>(const BackendId&) const = default;
  };

  NaiveBalancer(Timeouts timeouts, std::map<BackendId, unsigned> services_by_backend)
      : timeouts_(timeouts), services_by_backend_(std::move(services_by_backend)) {}

  void set_time(uint64_t now) { now_ = now; }

  // What must become of a client's packet. `backend` is the one the balancer sent it to.
  std::optional<DropCause> from_client(const FlowId& id, bool is_tcp, uint8_t flags,
                                       std::optional<unsigned> backend);
  // Whether a new connection of this client would find its reply tuple taken on this backend.
  bool is_taken(const FlowId& id, bool is_tcp, unsigned backend);

  // The flow that a backend's packet belongs to or begins; nothing when it must be dropped as
  // no_flow.
  std::optional<FlowId> from_backend(const ReplyId& id, uint8_t flags);

  bool is_live(const FlowId& id) { return find(id) != nullptr; }
  // The backend that this client has, or will have again.
  std::optional<unsigned> backend_of(const FlowId& id);

  struct Counts {
    uint64_t created = 0, live = 0, ended = 0, expired = 0;
  };
  Counts count();
  uint64_t created() const { return created_; }

 private:
  struct Flow {
    bool is_tcp;
    unsigned backend;
    // TCP. The handshake, if it began here.
    bool is_opening = false;
    bool has_backend_accepted = false;
    bool has_client_finished = false;
    bool has_backend_finished = false;
    bool was_reset = false;
    bool has_client_spoken_on = false;  // after the reset
    bool has_backend_spoken_on = false;
    bool is_answered = false;
    bool is_assured = false;
    uint64_t deadline = 0;

    bool is_over() const { return was_reset || (has_client_finished && has_backend_finished); }
  };

  Flow* find(const FlowId& id);
  void see_first(Flow& flow, uint8_t flags);
  void see(Flow& flow, bool is_from_client, uint8_t flags);
  static void see_contact(Flow& flow, bool is_from_client, uint8_t flags);
  static void see_progress(Flow& flow, bool is_from_client, uint8_t flags);
  uint64_t silence_allowed(const Flow& flow) const;
  void remove(const FlowId& id, const Flow& flow);

  Timeouts timeouts_;
  std::map<BackendId, unsigned> services_by_backend_;
  uint64_t now_ = 0;
  std::map<FlowId, Flow> flows_;
  std::map<ReplyId, FlowId> replies_;    // of the flow that had it last
  std::map<FlowId, unsigned> backends_;  // of every client that has ever begun a flow
  uint64_t created_ = 0, ended_ = 0, expired_ = 0;
};

}  // namespace roost::lb

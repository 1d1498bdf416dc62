// The way of a family's packets through the load balancer, after admission: whose connection is it,
// and out with it, towards the backend or back to the client.
//
// A batch is looked up at once; then its lanes act in order. The lookup's answers hold until a lane
// makes a connection; after that the remaining lanes look up singly, so that a SYN and its
// retransmission, or a request and its reply, in one batch do what they would do one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/lb/drop_cause.h"
#include "apps/lb/icmp_answers.h"
#include "apps/lb/state.h"
#include "roost/expiry/tick.h"
#include "roost/net/encapsulation.h"
#include "roost/net/flow_key.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/node/flow_owner.h"

namespace roost::lb {

// The lanes of a batch that hold packets of one family, in their order.
template <class Address>
struct FamilyLanes {
  size_t count = 0;
  std::array<uint8_t, net::kBatchLanesMax> lanes;
  std::array<net::FlowKey<Address>, net::kBatchLanesMax> keys;

  void push(size_t lane, const net::FlowKey<Address>& key) {
    lanes[count] = static_cast<uint8_t>(lane);
    keys[count++] = key;
  }
};

// The definitions are in family_path_impl.h, family_departure_impl.h and family_errors_impl.h.
template <class Address, class Tables = OwnTables>
class FamilyPath {
 public:
  // All must outlive this object.
  FamilyPath(Family<Address, Tables>& family, NextHops& next_hops, const Config& config,
             IcmpAnswers& answers, net::Outbox& outbox, const node::FlowOwner& owner);

  // Decides these lanes of the batch; `parsed` has one element a lane of the batch.
  void forward(const FamilyLanes<Address>& lanes, net::PacketBatch& batch,
               std::span<net::ParsedPacket> parsed, Tick now);

  // Whether what is forwarded counts as a backend's. Not so frames that the balancer sends itself,
  // which are counted as such; one that has to wait for its neighbour does.
  void set_counting(bool is_counting) { is_counting_ = is_counting; }

  // Decides one ICMP message, which parsed as kUnsupportedProtocol. An error about a packet of a
  // live connection is translated and goes to the end that sent that packet: from the backend's
  // side to the client, from the client's side to the backend. It does not refresh the connection,
  // because anybody can send one. Of another worker's connection it is handed over.
  [[nodiscard]] net::LaneVerdict forward_error(net::Packet& packet, net::ParsedPacket& parsed);

 private:
  using Key = net::FlowKey<Address>;
  using Match = typename ConnectionTable<Address, Tables>::Match;
  using Backend = typename ServiceTable<Address>::Backend;

  // One packet on its way.
  struct Passage {
    net::Packet& packet;
    net::ParsedPacket& parsed;
    const Key& key;
  };

  net::LaneVerdict begin_connection(const Passage& passage, bool& is_changed);
  net::LaneVerdict begin_from_backend(const Passage& passage, bool& is_changed);
  net::LaneVerdict to_backend(const Passage& passage, Connection& connection, bool& is_changed);
  net::LaneVerdict to_client(const Passage& passage, const Match& match);

  // How a packet leaves, decided before anything is changed.
  struct Departure {
    node::NeighbourIndex neighbour = node::kNoNeighbour;
    std::optional<net::Encapsulation> encapsulation{};
    bool waits = false;   // for the neighbour's answer
    DropCause refusal{};  // why it does not leave; its sender has been told if need be
  };
  // False: it does not leave. The departure is the caller's, so that it is read as it was written.
  [[nodiscard]] bool prepare(const Passage& passage, node::NeighbourIndex neighbour,
                             std::optional<net::Encapsulation> encapsulation, Departure& departure);
  [[nodiscard]] static size_t bytes_of(std::optional<net::Encapsulation> encapsulation) {
    return encapsulation ? net::encapsulation_bytes(*encapsulation, Key::kIsIpv6) : 0;
  }
  // By whom an address is reached: the neighbour that it had if it still is, else found and kept;
  // kNoNeighbour when there is no way or no room.
  node::NeighbourIndex still_or_found(node::NeighbourIndex& neighbour, const Address& address);
  node::NeighbourIndex neighbour_of_client(Connection& connection, const Address& client) {
    node::NeighbourIndex neighbour = connection.client_neighbour;
    still_or_found(neighbour, client);
    connection.client_neighbour = neighbour & node::kNoNeighbour;
    return neighbour;
  }
  node::NeighbourIndex neighbour_of(Backend& backend) {
    return still_or_found(backend.neighbour, backend.endpoint.address);
  }
  net::LaneVerdict send_to_backend(const Passage& passage, const Connection& connection,
                                   const Departure& departure);
  net::LaneVerdict send_to_client(const Passage& passage, const net::Endpoint<Address>& client,
                                  Backend& backend, const Departure& departure);
  net::LaneVerdict leave(const Passage& passage, Backend& backend, const Departure& departure);
  net::LaneVerdict leave_in_pieces(const Passage& passage, const Backend& backend,
                                   const Departure& departure);
  void encapsulate(const Passage& passage, const Backend& backend, const Departure& departure);
  // The connection's progress by a packet of its own, and how long it lives on.
  void hear(const Passage& passage, Connection& connection, Sender sender, const Backend& backend);

  ServiceTable<Address>& services_;
  ConnectionTable<Address, Tables>& connections_;
  NextHops& next_hops_;
  const StateTimeouts& timeouts_;
  IcmpAnswers& answers_;
  net::Outbox& outbox_;
  const node::FlowOwner& owner_;
  std::vector<Address> tunnel_sources_;  // by port
  uint16_t gue_port_;
  uint16_t identification_ = 0;  // of the next outer header
  Tick now_{};                   // of the batch at hand
  bool is_counting_ = true;
};

extern template class FamilyPath<net::Ipv4Address>;
extern template class FamilyPath<net::Ipv6Address>;

}  // namespace roost::lb

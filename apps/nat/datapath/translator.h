// What becomes of packets between inside and outside: whose they are, and which ends they get.
//
//   from inside    connection of (inside end, remote end), or a new one  -> source: the mapping's
//   to an address  mapping of the destination, connection of (its inside end, remote end), or a new
//                  one that the filtering lets in                        -> destination: inside end
//   from inside to an external address: both, one after the other (RFC 4787 REQ-9)
//
// An ICMP error is translated as a packet of the connection that it is about (RFC 5508 section 4).
// It changes nothing of that.
//
// An external address is one worker's, and so are the hosts that have it. A packet is handed off to
// its worker; one between hosts of two workers gets its source at the first one, and its
// destination at the second.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/nat/datapath/state.h"
#include "roost/conntrack/mapped_lanes.h"
#include "roost/net/icmp_error.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/net/tcp_segment.h"
#include "roost/net/translation.h"
#include "roost/node/flow_owner.h"

namespace roost::nat {

// One worker's. The definitions are in translator_impl.h.
template <class Tables>
class BasicTranslator {
 public:
  // The state must outlive this object and stay where it is.
  explicit BasicTranslator(BasicState<Tables>& state);

  // Before the packets of a batch.
  void clear() { lanes_.clear(); }
  // Asks for what decide() will look at, of a packet that has passed admission.
  void ask(size_t lane, const net::Packet& packet, const net::ParsedPacket& parsed);
  // Looks up what was asked for, together.
  void find_all() { lanes_.find_all(); }
  // Decides a packet of IPv4 that has passed admission. Nothing: it goes on, with what
  // translations() has for its lane. `was_released`: a fragment that has waited for its ports.
  [[nodiscard]] std::optional<net::LaneVerdict> decide(size_t lane, net::Packet& packet,
                                                       net::ParsedPacket& parsed,
                                                       bool was_released);
  [[nodiscard]] std::span<net::Translation> translations() { return translations_; }
  // Whether it is as a host inside has sent it.
  [[nodiscard]] bool is_from_host(const net::Packet& packet, const net::ParsedPacket& parsed) const;

 private:
  // What a packet is about.
  struct Subject {
    net::FlowKey4 key{};                       // of an error: as a packet of its connection has it
    std::optional<net::TcpSegment> segment{};  // nothing: a later fragment, or an error
    std::optional<net::IcmpError> error{};
    bool begins = false;  // may begin a connection

    [[nodiscard]] net::Endpoint4 source() const { return {key.source, key.source_port}; }
  };
  using Connections = typename BasicState<Tables>::Tracker::Connections;
  using Refusal = std::optional<net::DropCause>;

  [[nodiscard]] Refusal read_error(const net::Packet& packet, const net::ParsedPacket& parsed,
                                   Subject& subject) const;
  static void read_packet(const net::Packet& packet, const net::ParsedPacket& parsed,
                          Subject& subject);
  [[nodiscard]] bool stays_inside(const net::Ipv4Address& destination) const;
  [[nodiscard]] Refusal translate_source(size_t lane, const Subject& subject,
                                         net::Translation& translation);
  [[nodiscard]] Refusal translate_destination(size_t lane, const Subject& subject, uint16_t address,
                                              net::Translation& translation);
  [[nodiscard]] Refusal filter(const Subject& subject, conntrack::BoundPort bound,
                               const net::Endpoint4& inside);
  // `outwards`: from the inside end to the remote one.
  [[nodiscard]] Refusal create(const net::FlowKey4& outwards, conntrack::Side from,
                               conntrack::BoundPort bound, const Subject& subject);
  void update(const Subject& subject, conntrack::Connection& connection, conntrack::Sender sender);

  BasicState<Tables>& state_;
  Held& held_;
  Connections& connections_;
  conntrack::MappedLanes<Connections> lanes_;
  std::vector<bool> inside_;  // by port
  std::array<net::Translation, net::kBatchLanesMax> translations_{};
};

using Translator = BasicTranslator<conntrack::OwnTables>;
extern template class BasicTranslator<conntrack::OwnTables>;

}  // namespace roost::nat

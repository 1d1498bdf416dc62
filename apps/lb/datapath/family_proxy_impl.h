// Definitions of FamilyPath: connections whose backends are told the client's address by a PROXY
// header in front of its data (docs/decisions/0037-proxy-protocol.md).
//
// The connection's flag is up once its backend has the header; until then its note is the start of
// the client's stream.
#pragma once

#include "apps/lb/datapath/family_path.h"
#include "roost/net/proxy_header.h"
#include "roost/net/tcp_edit.h"

namespace roost::lb {

template <class Address, class Tables>
bool FamilyPath<Address, Tables>::may_begin_stream(const Passage& passage) {
  if (passage.parsed.fragment.is_one()) return false;
  if (!net::TcpEdit::is_possible(passage.packet, passage.parsed)) return false;
  if (is_midstream(passage)) return true;
  return net::read_tcp_segment(passage.packet, passage.parsed).length == 1;
}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::begin_stream(const Passage& passage,
                                               const Connection& connection) {
  const uint32_t sequence = net::read_tcp_segment(passage.packet, passage.parsed).sequence;
  connections_.note_of(passage.key, connection) = sequence + 1;
}

template <class Address, class Tables>
ProxyStream FamilyPath<Address, Tables>::stream_of(const Key& client_key,
                                                   const Connection& connection) {
  const bool has_header = connection.flag;
  return {.start = has_header ? 0 : connections_.note_of(client_key, connection),
          .header_bytes = net::kProxyHeaderBytes<Address>,
          .has_header = has_header};
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::to_proxy_backend(const Passage& passage,
                                                               Connection& connection) {
  net::Packet& packet = passage.packet;
  net::ParsedPacket& parsed = passage.parsed;
  Backend& backend = services_.backend(connection.owner);
  if (parsed.fragment.is_one() && !connection.flag) return drop(drop_cause::kNoProxyHeader);
  const bool has_tcp = !parsed.fragment.is_later();
  if (has_tcp && !net::TcpEdit::is_possible(packet, parsed)) return drop(DropCause::kSplitHeaders);

  const net::TcpSegment segment =
      has_tcp ? net::read_tcp_segment(packet, parsed) : net::TcpSegment();
  const bool is_syn = segment.has(net::tcp::kSyn);
  const ProxyStream stream = stream_of(passage.key, connection);
  if (is_syn ? segment.length > 1 : stream.crosses_start(segment.sequence, segment.end())) {
    return drop(drop_cause::kNoProxyHeader);
  }
  const bool takes_header = has_tcp && !stream.has_header && !is_syn &&
                            !segment.has(net::tcp::kRst) && segment.length > 0 &&
                            segment.sequence == stream.start;
  const size_t added_bytes = takes_header ? stream.header_bytes : 0;
  if (parsed.ip_bytes + added_bytes > net::kIpBytesMax) return drop(DropCause::kTooBig);
  l3::Resolved resolved;
  if (!resolve_to_backend(passage, backend, added_bytes, resolved)) {
    return drop(resolved.refusal);
  }
  const bool is_new = conntrack::begins_anew(connection.state, segment.flags, false);
  if (is_new) {
    ++backend.counters.flows;
    connections_.begin_anew(connection, passage.key.protocol, segment,
                            services_.timeouts_of(backend));
  } else {
    update(passage, connection, backend, Sender::kClient);
  }
  // In the middle of a connection it changes nothing, unless the backend's answer says so.
  if (is_syn && connection.state == ConnectionState::kSynSent) begin_stream(passage, connection);
  if (takes_header) {
    using End = net::Endpoint<Address>;
    net::insert_proxy_header(packet, parsed, End{passage.key.source, passage.key.source_port},
                             End{passage.key.destination, passage.key.destination_port});
  } else if (is_syn) {
    refuse_fast_open(passage);
  } else if (has_tcp) {
    net::TcpEdit edit(packet, parsed);
    edit.set32(net::tcp::kSequence, stream.to_backend(segment.sequence));
    edit.finish();
  }
  return send_to_backend(passage, connection, resolved);
}

// Its data would come before the handshake says where the stream begins.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::refuse_fast_open(const Passage& passage) {
  net::TcpEdit edit(passage.packet, passage.parsed);
  edit.remove_options(net::tcp::kOptionFastOpen);
  edit.finish();
}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::translate_answer(const Passage& passage, const Key& client_key,
                                                   Connection& connection) {
  const uint8_t flags = passage.parsed.tcp_flags;
  if ((flags & net::tcp::kAck) == 0) return;
  net::TcpEdit edit(passage.packet, passage.parsed);
  const uint32_t acknowledged = edit.get32(net::tcp::kAcknowledgement);
  if ((flags & net::tcp::kSyn) != 0) {
    // Which of the client's SYNs it accepts is for the backend to say.
    uint32_t& start = connections_.note_of(client_key, connection);
    if (start != acknowledged) connection.flag = false;
    start = acknowledged;
    leave_room_for_header(edit);
    return;
  }
  const ProxyStream stream = stream_of(client_key, connection);
  edit.set32(net::tcp::kAcknowledgement, stream.to_client(acknowledged));
  edit.for_each_option([&](uint8_t kind, size_t at, size_t bytes) {
    if (kind != net::tcp::kOptionSack) return;
    for (size_t edge = 0; edge + 4 <= bytes; edge += 4) {
      edit.set32(at + edge, stream.to_client(edit.get32(at + edge)));
    }
  });
  edit.finish();
  connection.flag = stream.shows_header(acknowledged);
}

// Of a SYN-ACK. A smaller MSS or window than twice the header is left as it is: what does not fit
// is sent again.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::leave_room_for_header(net::TcpEdit& edit) {
  constexpr uint16_t kBytes = net::kProxyHeaderBytes<Address>;
  const auto lower = [&](size_t at) {
    const uint16_t value = edit.get16(at);
    if (value > 2 * kBytes) edit.set16(at, static_cast<uint16_t>(value - kBytes));
  };
  lower(net::tcp::kWindow);
  edit.for_each_option([&](uint8_t kind, size_t at, size_t bytes) {
    if (kind == net::tcp::kOptionMss && bytes == 2) lower(at);
  });
  edit.finish();
}

// As long as the header is on its way, what it is in front of must be so much shorter.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::translate_error(const net::Packet& packet,
                                                  const net::IcmpError& error,
                                                  const Key& client_key,
                                                  const Connection& connection) {
  const ProxyStream stream = stream_of(client_key, connection);
  net::rewrite_error_sequence(packet, error, stream.to_client(net::error_sequence(packet, error)));
  if (!stream.has_header) {
    net::lower_error_mtu(packet, error, net::kProxyHeaderBytes<Address>);
  }
}

}  // namespace roost::lb

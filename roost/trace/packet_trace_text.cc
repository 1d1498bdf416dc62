#include "roost/trace/packet_trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "roost/net/flow_key.h"
#include "roost/net/parse.h"

namespace roost::trace {

namespace {

std::string flags_of(uint8_t flags) {
  constexpr std::array<std::pair<uint8_t, std::string_view>, 4> kNames = {
      {{net::tcp::kSyn, "SYN"},
       {net::tcp::kFin, "FIN"},
       {net::tcp::kRst, "RST"},
       {net::tcp::kAck, "ACK"}}};
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((flags & bit) != 0) text += fmt::format("{}{}", text.empty() ? "" : " ", name);
  }
  return text.empty() ? "no flags" : text;
}

std::string protocol_name(net::IpProtocol protocol) {
  if (protocol == net::IpProtocol::kTcp) return "TCP";
  if (protocol == net::IpProtocol::kUdp) return "UDP";
  if (protocol == net::kProtocolIcmp4) return "ICMP";
  if (protocol == net::kProtocolIcmp6) return "ICMPv6";
  return fmt::format("IP protocol {}", static_cast<unsigned>(protocol));
}

template <class Address>
std::string ends_of(const net::Packet& packet, const net::ParsedPacket& parsed, bool has_ports) {
  const auto key = net::FlowKey<Address>::from_packet(packet, parsed);
  if (!has_ports) return fmt::format("{} -> {}", key.source.format(), key.destination.format());
  static constexpr bool kIsIpv6 = net::FlowKey<Address>::kIsIpv6;
  const auto end = [](const Address& address, uint16_t port) {
    return kIsIpv6 ? fmt::format("[{}]:{}", address.format(), port)
                   : fmt::format("{}:{}", address.format(), port);
  };
  return fmt::format("{} -> {}", end(key.source, key.source_port),
                     end(key.destination, key.destination_port));
}

// What the frame is, as far as its first bytes say.
std::string frame_words(const PacketTrace::Form& form) {
  PacketTrace::Form copy = form;  // a parser's packet may be written to
  const net::Packet packet{.data = copy.bytes.data(),
                           .contiguous_bytes = copy.kept_bytes,
                           .total_bytes = copy.total_bytes};
  net::ParsedPacket parsed;
  const net::ParseVerdict verdict = net::parse(packet, parsed);
  const bool is_whole = verdict == net::ParseVerdict::kOk;
  const bool is_fragment = verdict == net::ParseVerdict::kFragment;
  if (!has_addresses(verdict)) {
    if (verdict == net::ParseVerdict::kNotIp && form.kept_bytes >= 14) {
      return fmt::format("EtherType 0x{:02x}{:02x}", form.bytes[12], form.bytes[13]);
    }
    return std::string(net::parse_verdict_name(verdict));
  }
  const bool has_ports = is_whole || (is_fragment && !parsed.fragment.is_later());
  const std::string ends = parsed.is_ipv6 ? ends_of<net::Ipv6Address>(packet, parsed, has_ports)
                                          : ends_of<net::Ipv4Address>(packet, parsed, has_ports);
  std::string text = fmt::format("{} {}", protocol_name(parsed.protocol), ends);
  if (has_ports && parsed.protocol == net::IpProtocol::kTcp) {
    text += fmt::format(", {}", flags_of(parsed.tcp_flags));
  }
  if (is_fragment) text += fmt::format(", fragment at {}", parsed.fragment.offset);
  for (size_t i = 0; i < parsed.vlan.count; ++i) {
    text += fmt::format(", VLAN {}", parsed.vlan.tags[i].identifier());
  }
  return text + fmt::format(", {} {}", parsed.is_ipv6 ? "hop limit" : "TTL", parsed.ttl);
}

// A MAC of the Ethernet header; source at 6, destination at 0.
std::string mac_at(const PacketTrace::Form& form, size_t offset) {
  net::MacAddress mac;
  if (form.kept_bytes < offset + mac.bytes.size()) return "?";
  std::copy_n(form.bytes.begin() + static_cast<ptrdiff_t>(offset), mac.bytes.size(),
              mac.bytes.begin());
  return mac.format();
}

std::string sent_words(const PacketTrace& trace) {
  return fmt::format("\n  sent       by port {} to {}, {} bytes", trace.verdict.out_port(),
                     mac_at(trace.sent, 0), trace.sent.total_bytes);
}

// A line for each group of ports.
std::string replicas_words(const PacketTrace& trace) {
  std::string text;
  for (const net::PortGroup& group : trace.port_groups()) {
    const PacketTrace::Form form = sent_by(trace, group);
    text += fmt::format("\n  sent       by port{} {} to {}, {} bytes: {}",
                        group.ports.count() == 1 ? "" : "s", fmt::join(group.ports, ", "),
                        mac_at(form, 0), form.total_bytes, frame_words(form));
  }
  return text;
}

}  // namespace

std::string words_of(const PacketTrace& trace, const TraceWords& words) {
  const std::string seconds = fmt::format("{}.{:06}", trace.nanoseconds / 1'000'000'000,
                                          trace.nanoseconds / 1'000 % 1'000'000);
  if (trace.is_own) {
    return fmt::format("the {}'s own, worker {}, {} s\n  originated {}", words.function,
                       trace.worker, seconds, frame_words(trace.sent)) +
           sent_words(trace);
  }
  std::string text = fmt::format(
      "packet {} of worker {}, {} s\n  received   by port {} from {}, {} bytes\n  parsed     {}",
      trace.number, trace.worker, seconds, trace.in_port, mac_at(trace.received, 6),
      trace.received.total_bytes, frame_words(trace.received));
  text += words.explanation(trace.before, trace.after);
  if (trace.verdict.is_forward()) {
    text += "\n  rewritten  " + frame_words(trace.sent) + sent_words(trace);
  } else if (trace.verdict.is_replicated()) {
    text += replicas_words(trace);
  } else if (trace.verdict.is_consumed()) {
    text += fmt::format("\n  kept       by the {}, for itself or until a neighbour has answered",
                        words.function);
  } else if (trace.verdict.is_handoff()) {
    text += fmt::format("\n  handed off to worker {}, whose connection it is of",
                        trace.verdict.owner());
  } else {
    text += fmt::format("\n  dropped    {}",
                        net::drop_cause_name(words.drop_causes, trace.verdict.drop_cause()));
  }
  if (trace.answer_count != 0) {
    text += fmt::format("\n  answered   by {} frames of the {}'s own", trace.answer_count,
                        words.function);
  }
  return text;
}

}  // namespace roost::trace

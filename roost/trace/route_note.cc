#include "roost/trace/route_note.h"

#include "roost/net/flow_key.h"

namespace roost::trace {

namespace {

struct RouteNote {
  bool is_routed = false;
  KeptText prefix{};
};

}  // namespace

void note_route(const routing::RoutingTable* table, const net::Packet& packet,
                const net::ParsedPacket& parsed, Note& note) {
  const net::IpAddress destination =
      parsed.is_ipv6 ? net::IpAddress(net::FlowKey6::from_packet(packet, parsed).destination)
                     : net::IpAddress(net::FlowKey4::from_packet(packet, parsed).destination);
  RouteNote route;
  const auto prefix = table == nullptr ? std::nullopt : table->fib.prefix_of(destination);
  if (prefix) {
    route.is_routed = true;
    route.prefix.keep(prefix->format());
  }
  note.set(route);
}

std::string route_text(const Note& before, const Note&) {
  const auto note = before.get<RouteNote>();
  return "\n  route      " + std::string(note.is_routed ? note.prefix.text() : "none");
}

}  // namespace roost::trace

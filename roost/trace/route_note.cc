#include "roost/trace/route_note.h"

#include "roost/net/flow_key.h"

namespace roost::trace {

namespace {

struct RouteNote {
  uint64_t lookup_count = 0;  // the worker's
  bool is_routed = false;
  KeptText prefix{};
};

}  // namespace

void note_route(const routing::WorkerRoutes& routes, const net::Packet& packet,
                const net::ParsedPacket& parsed, Note& note) {
  const net::IpAddress destination =
      parsed.is_ipv6 ? net::IpAddress(net::FlowKey6::from_packet(packet, parsed).destination)
                     : net::IpAddress(net::FlowKey4::from_packet(packet, parsed).destination);
  RouteNote route{.lookup_count = routes.lookup_count};
  const auto prefix =
      routes.table == nullptr ? std::nullopt : routes.table->fib.prefix_of(destination);
  if (prefix) {
    route.is_routed = true;
    route.prefix.keep(prefix->format());
  }
  note.set(route);
}

// A watched packet is alone in its batch, so a lookup meanwhile was of its destination.
std::string route_text(const Note& before, const Note& after) {
  const auto note = before.get<RouteNote>();
  if (after.get<RouteNote>().lookup_count == note.lookup_count) return {};
  return "\n  route      " + std::string(note.is_routed ? note.prefix.text() : "none");
}

}  // namespace roost::trace

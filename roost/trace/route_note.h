// By which route a traced packet is forwarded, for functions that forward by routes.
#pragma once

#include <string>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/routing/routing_table.h"
#include "roost/trace/packet_trace.h"

namespace roost::trace {

// `table` may be null: there is no route.
void note_route(const routing::RoutingTable* table, const net::Packet& packet,
                const net::ParsedPacket& parsed, Note& note);

// The line of a trace that says it.
[[nodiscard]] std::string route_text(const Note& before, const Note& after);

}  // namespace roost::trace

// By which route a traced packet is forwarded, for functions that forward by routes. A packet that
// was dropped, answered or kept before its destination was looked up has none.
#pragma once

#include <string>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/routing/routing_table.h"
#include "roost/trace/packet_trace.h"

namespace roost::trace {

void note_route(const routing::WorkerRoutes& routes, const net::Packet& packet,
                const net::ParsedPacket& parsed, Note& note);

// The line of a trace that says it; nothing if nothing was looked up.
[[nodiscard]] std::string route_text(const Note& before, const Note& after);

}  // namespace roost::trace

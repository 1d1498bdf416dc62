// What the table said of a traced frame's source, as trace::Watched asks, and as people read it.
#pragma once

#include <string>

#include "roost/assets/observer.h"
#include "roost/trace/packet_trace.h"

namespace roost::assets {

void explain(Observer& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

[[nodiscard]] std::string explanation(const trace::Note& before, const trace::Note& after);

}  // namespace roost::assets

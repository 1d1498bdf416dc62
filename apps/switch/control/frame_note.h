// What the forwarding database says of a traced frame, as trace::Watched asks, and as people read
// it.
#pragma once

#include <string>

#include "apps/switch/datapath/state.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/trace/packet_trace.h"

namespace roost::switching {

void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

[[nodiscard]] std::string explanation(const trace::Note& before, const trace::Note& after);

}  // namespace roost::switching

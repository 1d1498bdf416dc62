// What flow tables said of a traced packet, as trace::Watched asks, and as people read it.
#pragma once

#include <string>

#include "apps/classify/datapath/state.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/trace/packet_trace.h"

namespace roost::classifying {

// Before the packet is decided, the pipeline is asked to keep its lookups; afterwards they are
// noted.
void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

[[nodiscard]] std::string explanation(const trace::Note& before, const trace::Note& after);

}  // namespace roost::classifying

// What the balancer's tables say of a traced packet: the service that it is for, and its
// connection.
#pragma once

#include <string>

#include "apps/lb/datapath/state.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/trace/packet_trace.h"

namespace roost::lb {

struct FlowNote {
  bool is_service = false;  // the packet is for a service's virtual address
  bool is_known = false;    // there is a live connection of its tuple
  bool is_from_client = false;
  ConnectionState state = ConnectionState::kUdp;
  uint32_t backend = 0;  // its index
  trace::KeptText packet_service{};
  trace::KeptText service{};
  trace::KeptText backend_name{};
};

// What trace::Watched asks for; the note of a whole packet gets a FlowNote.
void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

// The lines of a trace that say it.
[[nodiscard]] std::string explanation(const trace::Note& before, const trace::Note& after);

}  // namespace roost::lb

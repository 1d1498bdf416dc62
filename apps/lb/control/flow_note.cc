#include "apps/lb/control/flow_note.h"

#include <fmt/format.h>

#include "apps/lb/control/control.h"
#include "apps/lb/datapath/steering.h"

namespace roost::lb {

namespace {

template <class Address>
FlowNote note_of(Family<Address>& family, const FamilyRegistry& registry,
                 const net::FlowKey<Address>& key) {
  FlowNote note;
  if (const auto service = family.services().find(key)) {
    note.is_service = true;
    note.packet_service.keep(registry.services[*service].name);
  }
  const auto match = family.connections().find(key);
  if (match.connection == nullptr) return note;
  const uint32_t backend = match.connection->owner;
  const RegisteredBackend& registered = registry.backends[backend];
  note.is_known = true;
  note.is_from_client = match.sender == Sender::kClient;
  note.state = match.connection->state;
  note.backend = backend;
  note.service.keep(registry.services[registered.service].name);
  note.backend_name.keep(registered.name);
  return note;
}

std::string flow_words(const FlowNote& flow) {
  return fmt::format("{} of {}, {}", flow.backend_name.text(), flow.service.text(),
                     conntrack::connection_state_name(flow.state));
}

// What the packet found, and what it left.
std::string change_words(const FlowNote& before, const FlowNote& after) {
  if (!before.is_known && !after.is_known) return "none";
  if (!before.is_known) return "created: backend " + flow_words(after);
  std::string text = fmt::format("found, from its {}: backend {}",
                                 before.is_from_client ? "client" : "backend", flow_words(before));
  if (!after.is_known) return text + " -> over";
  if (after.backend != before.backend) return text + " -> created anew: " + flow_words(after);
  if (after.state != before.state) {
    text += fmt::format(" -> {}", conntrack::connection_state_name(after.state));
  }
  return text;
}

}  // namespace

void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note) {
  if (verdict != net::ParseVerdict::kOk) return;
  state.tracker().advance(now);  // what is over by now is not there, as for the datapath
  const auto& [ipv4, ipv6] = state.registry().families;
  if (parsed.is_ipv6) {
    note.set(note_of(state.ipv6(), ipv6, net::FlowKey6::from_packet(packet, parsed)));
    return;
  }
  const auto key = net::FlowKey4::from_packet(packet, parsed);
  note.set(is_for_ipv6(key, state.ipv6().connections().ports())
               ? note_of(state.ipv6(), ipv6, net::ipv4_mapped(key))
               : note_of(state.ipv4(), ipv4, key));
}

std::string explanation(const trace::Note& before, const trace::Note& after) {
  const auto found = before.get<FlowNote>();
  std::string text;
  if (found.is_service) text += "\n  service    " + std::string(found.packet_service.text());
  return text + "\n  flow       " + change_words(found, after.get<FlowNote>());
}

}  // namespace roost::lb

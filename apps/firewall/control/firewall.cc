#include "apps/firewall/control/firewall.h"

#include <fmt/format.h>

#include "roost/acl/rule_masks.h"
#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/tracked_packet.h"
#include "roost/control/metrics.h"
#include "roost/control/route_report.h"

namespace roost::firewall {

namespace {

// What a traced packet met, and left.
struct PacketNote {
  bool has_connection = false;
  bool is_from_client = false;
  conntrack::ConnectionState state{};
  acl::Action action{};  // of the rule that it gets without a connection
  trace::KeptText rule{};
};

template <class Address>
PacketNote note_of(State& state, const net::Packet& packet, const net::ParsedPacket& parsed) {
  PacketNote note;
  net::ParsedPacket with_ports = parsed;
  (void)net::read_echo_ports(packet, with_ports);
  conntrack::TrackedPacket<Address> tracked;
  if (conntrack::read_tracked(packet, with_ports, tracked)) {
    const auto match = state.family<Address>().connections().find(tracked.key);
    if (match.connection != nullptr) {
      note.has_connection = true;
      note.is_from_client = match.sender == conntrack::Sender::kClient;
      note.state = match.connection->state;
      return note;
    }
  }
  const auto key = net::FlowKey<Address>::from_packet(packet, with_ports);
  const classify::PacketFields fields =
      acl::fields_of(key, packet.in_port, state.out_port_of(key.destination, packet.in_port));
  uint32_t place = 0;
  state.rules().find(std::span(&fields, 1), std::span(&place, 1));
  note.action = state.rules().action(place);
  note.rule.keep(state.rules().name(place));
  return note;
}

std::string words_of(const trace::Note& before, const trace::Note& after) {
  const auto met = before.get<PacketNote>();
  const auto left = after.get<PacketNote>();
  if (met.has_connection) {
    return fmt::format("\n  connection found, from its {}: {}",
                       met.is_from_client ? "client" : "server",
                       conntrack::connection_state_name(met.state));
  }
  std::string text = fmt::format("\n  rule       {}: {}", met.rule.text(), action_name(met.action));
  if (left.has_connection) {
    text += fmt::format("\n  connection begun: {}", conntrack::connection_state_name(left.state));
  }
  return text;
}

}  // namespace

std::string Firewall::summary_of(const Config& config) {
  const std::string tracked = config.is_stateful
                                  ? fmt::format("room for {} connections", config.connections)
                                  : std::string("no connections tracked");
  return fmt::format("{} ports{}, {} rules; {}; a tick of {:g} s.", config.network.ports.size(),
                     config.is_wire ? " as a wire" : "", config.rules.size(), tracked,
                     config.tick_seconds());
}

node::RunConfig Firewall::run_config(const Config& config) {
  return node::run_config_of(config, "[firewall]", node::ports_of(config.network.ports));
}

std::optional<Error> Firewall::prepare(Config& config, const node::RunPlan& plan) {
  node::take_plan(config, plan);
  if (config.is_wire) return {};
  return routing::make_table(config);
}

trace::TraceWords Firewall::trace_words() { return {"firewall", kFirewallDropCauses, words_of}; }

void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note) {
  if (verdict != net::ParseVerdict::kOk && verdict != net::ParseVerdict::kUnsupportedProtocol) {
    return;
  }
  state.tracker().advance(now);  // what is over by now is not there, as for the datapath
  note.set(parsed.is_ipv6 ? note_of<net::Ipv6Address>(state, packet, parsed)
                          : note_of<net::Ipv4Address>(state, packet, parsed));
}

control::MetricFamilies Firewall::Running::metrics() {
  return sampled(kNames, kFirewallDropCauses, [](const Report& report, control::MetricList& out) {
    control::add_network(report, out);
    control::add_hops(report.routes, out);
    out.add_counters<FilterCounters>("filter", kFilterCounters, report.work.filter);
    control::add_tracker(report.work.tracker, "connections", out);
    out.add_counters<l3::ResetCounters>("resets", l3::kResetCounters, report.work.resets);
    out.counter("log_suppressed_total",
                "Decisions that a rule should have logged, and that were too many.")
        .add({}, report.work.log_suppressed);
  });
}

}  // namespace roost::firewall

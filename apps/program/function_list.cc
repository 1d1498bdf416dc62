#include "apps/program/function_list.h"

#include <array>

#include "apps/assets/control/network_observer.h"
#include "apps/classify/control/packet_classifier.h"
#include "apps/firewall/control/firewall.h"
#include "apps/forward/control/router.h"
#include "apps/lb/config/suggest.h"
#include "apps/lb/control/balancer.h"
#include "apps/nat/control/address_translator.h"
#include "apps/switch/control/ethernet_switch.h"

namespace roost::program {

namespace {

FunctionEntry lb_entry() {
  return {.command = "lb",
          .short_about = "balance TCP and UDP over backends",
          .about = "A layer-4 load balancer for TCP and UDP, IPv4 and IPv6.",
          .details =
              "It takes packets for virtual addresses from its ports, sends each connection to one "
              "backend\n"
              "of the service (chosen by Maglev, kept in a flow table), and brings the replies "
              "back.",
          .commands = lb::Balancer::commands(),
          .run = run_function<lb::Balancer>,
          .suggest = lb::suggest_config,
          .takes_over = true};
}

FunctionEntry forward_entry() {
  return {.command = "forward",
          .short_about = "route IPv4 and IPv6, or connect two ports",
          .about = "A router for IPv4 and IPv6 with static routes, or a wire between two ports.",
          .details =
              "It sends each packet to the next hop of the longest prefix that contains its "
              "destination,\n"
              "asks for neighbours by ARP and neighbour discovery, and answers with ICMP errors "
              "what "
              "it\n"
              "cannot forward. With `wire = true`, what one port receives leaves by the other.",
          .commands = forward::Router::commands(),
          .run = run_function<forward::Router>};
}

FunctionEntry nat_entry() {
  return {
      .command = "nat",
      .short_about = "translate addresses and ports of IPv4",
      .about = "A NAT for TCP, UDP and ICMP echo of IPv4 (NAT44).",
      .details =
          "It gives each endpoint inside one external address and port, whomever it talks to, and "
          "routes\n"
          "what it has translated. Others reach inside hosts by those, as far as the filtering and "
          "the\n"
          "forwards let them.",
      .commands = nat::AddressTranslator::commands(),
      .run = run_function<nat::AddressTranslator>};
}

FunctionEntry switch_entry() {
  return {.command = "switch",
          .short_about = "switch Ethernet frames by VLAN and address",
          .about = "An Ethernet switch with VLANs.",
          .details =
              "It learns at which port each station of a VLAN is, in a forwarding database that "
              "all "
              "workers\n"
              "share, sends frames for known stations by their port, and others by all ports of "
              "their VLAN.",
          .commands = switching::EthernetSwitch::commands(),
          .run = run_function<switching::EthernetSwitch>};
}

FunctionEntry classify_entry() {
  return {.command = "classify",
          .short_about = "handle packets by flows, as OpenFlow has them",
          .about = "A packet classifier of eight flow tables, with the flows of `ovs-ofctl`.",
          .details =
              "Each packet gets the actions of the flow of the highest priority that matches it: "
              "fields\n"
              "rewritten, other tables looked up, connections tracked, sent by ports, or dropped.",
          .commands = classifying::PacketClassifier::commands(),
          .run = run_function<classifying::PacketClassifier>};
}

FunctionEntry firewall_entry() {
  return {.command = "firewall",
          .short_about = "let packets pass by rules and connections",
          .about = "A stateful packet filter for IPv4 and IPv6, routed or as a wire.",
          .details =
              "Rules say which connections may begin; their packets pass in both directions until "
              "they\n"
              "are over, and so do ICMP errors about them. What no rule allows is dropped, or "
              "rejected.",
          .commands = firewall::Firewall::commands(),
          .run = run_function<firewall::Firewall>};
}

FunctionEntry assets_entry() {
  return {.command = "assets",
          .short_about = "list hosts and services from what is seen",
          .about = "An observer: which hosts there are, and which services answered.",
          .details =
              "It looks at frames that mirrors and taps bring, keeps who sent them, when, and what "
              "answered,\n"
              "and never sends a frame itself.",
          .commands = assets::NetworkObserver::commands(),
          .run = run_function<assets::NetworkObserver>};
}

}  // namespace

std::span<const FunctionEntry> function_list() {
  static const std::array functions = {lb_entry(),     forward_entry(),  nat_entry(),
                                       switch_entry(), classify_entry(), firewall_entry(),
                                       assets_entry()};
  return functions;
}

}  // namespace roost::program

#include "lab/functions/rules.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "roost/net/byte_order.h"

namespace roost::lab {
namespace {

// Clients have 64.0.0.0/3.
constexpr uint32_t kClients = 0x40000000U;
constexpr unsigned kClientBits = 29;

net::Ipv4Address address_of(uint32_t number) {
  net::Ipv4Address address;
  net::store_be16(address.bytes.data(), static_cast<uint16_t>(number >> 16));
  net::store_be16(&address.bytes[2], static_cast<uint16_t>(number));
  return address;
}

// Bits of the source's prefix and of the destination's.
constexpr std::array<std::pair<uint8_t, uint8_t>, 10> kPrefixes = {{{0, 24},
                                                                    {0, 32},
                                                                    {8, 24},
                                                                    {16, 16},
                                                                    {16, 24},
                                                                    {16, 32},
                                                                    {24, 24},
                                                                    {24, 32},
                                                                    {32, 24},
                                                                    {32, 32}}};

std::vector<net::IpPrefix> draw_network(uint8_t bits, traffic::Draw& draw) {
  if (bits == 0) return {};
  const auto number = static_cast<uint32_t>(draw.word() >> 32);
  const auto host_bits = static_cast<uint32_t>((uint64_t{1} << (32 - bits)) - 1);
  return {{net::IpAddress(address_of(number & ~host_bits)), bits}};
}

std::vector<acl::PortRange> draw_ports(traffic::Draw& draw) {
  constexpr std::array<uint16_t, 8> kPorts = {22, 25, 53, 80, 123, 443, 3'306, 8'080};
  const uint64_t kind = draw.below(8);
  if (kind == 0) return {};
  if (kind == 1) return {{1'024, UINT16_MAX}};
  const uint16_t port = kPorts[draw.below(kPorts.size())];
  return {{port, port}};
}

net::Ipv4Address draw_address(const acl::RuleSide& side, traffic::Draw& draw) {
  auto number = static_cast<uint32_t>(draw.word() >> 32);
  if (!side.networks.empty()) {
    const net::IpPrefix& network = side.networks.front();
    const net::Ipv4Address first = network.address.ipv4();
    const auto host_bits = static_cast<uint32_t>((uint64_t{1} << (32 - network.prefix_bits)) - 1);
    number = (net::load_be32(first.bytes.data()) & ~host_bits) | (number & host_bits);
  }
  return address_of(number);
}

uint16_t draw_port(const std::vector<acl::PortRange>& ranges, traffic::Draw& draw) {
  const acl::PortRange range = ranges.empty() ? acl::PortRange{1, UINT16_MAX} : ranges.front();
  return static_cast<uint16_t>(range.first + draw.below(uint64_t{range.last} - range.first + 1));
}

}  // namespace

std::string denying_rules(size_t count) {
  constexpr std::array<const char*, 4> kAbout = {"", "protocol = \"tcp\"\n",
                                                 "protocol = \"tcp\"\nports = [80]\n",
                                                 "protocol = \"tcp\"\nports = [\"1-1023\"]\n"};
  unsigned bits = 0;
  while (size_t{1} << bits < count) ++bits;
  std::string rules;
  for (size_t rule = 0; rule < count; ++rule) {
    const auto part = static_cast<uint32_t>(rule << (kClientBits - bits));
    rules += fmt::format("[[rule]]\nfrom = [\"{}/{}\"]\n{}action = \"deny\"\n",
                         address_of(kClients + part).format(), 32 - kClientBits + bits,
                         kAbout[rule % kAbout.size()]);
  }
  return rules;
}

std::vector<acl::RuleConfig> five_tuple_rules(size_t count, uint64_t seed) {
  constexpr std::array kProtocols = {net::IpProtocol::kTcp, net::IpProtocol::kUdp};
  traffic::Draw draw(seed);
  std::vector<acl::RuleConfig> rules;
  while (rules.size() + 1 < count) {
    const auto [source_bits, destination_bits] = kPrefixes[draw.below(kPrefixes.size())];
    acl::RuleConfig rule{.from = {.networks = draw_network(source_bits, draw)},
                         .to = {.networks = draw_network(destination_bits, draw)},
                         .action = acl::Action::kDeny};
    if (const uint64_t kind = draw.below(3); kind < kProtocols.size()) {
      rule.protocol = static_cast<uint8_t>(kProtocols[kind]);
      rule.ports = draw_ports(draw);
    }
    rules.push_back(std::move(rule));
  }
  rules.push_back({.action = acl::Action::kAllow});
  return rules;
}

net::FlowKey4 draw_key(const acl::RuleConfig& rule, traffic::Draw& draw) {
  constexpr auto kTcp = static_cast<uint8_t>(net::IpProtocol::kTcp);
  return {draw_address(rule.from, draw),
          draw_address(rule.to, draw),
          draw_port(rule.source_ports, draw),
          draw_port(rule.ports, draw),
          static_cast<net::IpProtocol>(rule.protocol.value_or(kTcp)),
          {}};
}

}  // namespace roost::lab

#include "roost/acl/rule_masks.h"

#include <algorithm>
#include <iterator>

#include "roost/classify/rule_product.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::acl {

namespace {

using classify::AlignedBlock;
using classify::Field;
using classify::FieldNumber;
using classify::PacketFields;
using classify::Rule;
using classify::RuleProduct;

// The port by which a packet leaves stands in a register, one more than its number.
constexpr Field kOutPort = Field::kReg0;
constexpr uint64_t in_register(uint16_t port) { return uint64_t{port} + 1; }

FieldNumber number_of(const net::Ipv4Address& address) {
  return {.low = net::load_be32(address.bytes.data())};
}
FieldNumber number_of(const net::Ipv6Address& address) {
  const auto half = [&](size_t at) {
    return uint64_t{net::load_be32(&address.bytes[at])} << 32 |
           net::load_be32(&address.bytes[at + 4]);
  };
  return {.high = half(0), .low = half(8)};
}

std::vector<net::IpPrefix> of_family(const std::vector<net::IpPrefix>& networks, bool is_ipv6) {
  std::vector<net::IpPrefix> chosen;
  std::ranges::copy_if(networks, std::back_inserter(chosen), [&](const net::IpPrefix& network) {
    return network.address.is_ipv6() == is_ipv6;
  });
  return chosen;
}

void multiply_networks(RuleProduct& product, const std::vector<net::IpPrefix>& networks,
                       Field field) {
  product.multiply(networks, [&](Rule& rule, const net::IpPrefix& network) {
    const FieldNumber mask = classify::prefix_mask(field, network.prefix_bits);
    const auto ipv6 = network.address.as<net::Ipv6Address>();
    const auto ipv4 = network.address.as<net::Ipv4Address>();
    const FieldNumber value = ipv6 ? number_of(*ipv6) : ipv4 ? number_of(*ipv4) : FieldNumber{};
    set(rule.mask, field, mask);
    set(rule.value, field, {.high = value.high & mask.high, .low = value.low & mask.low});
  });
}

void multiply_ports(RuleProduct& product, const std::vector<PortRange>& ranges, Field field) {
  std::vector<AlignedBlock> blocks;
  for (const PortRange& range : ranges) {
    std::ranges::copy(classify::aligned_blocks(range.first, range.last), back_inserter(blocks));
  }
  product.multiply(blocks, [&](Rule& rule, const AlignedBlock& block) {
    set(rule.mask, field, block.mask);
    set(rule.value, field, block.value);
  });
}

// What the rule says of the packets of a family, or, without networks and ICMP, of both.
RuleProduct product_of(const RuleConfig& rule, uint32_t action, std::optional<bool> is_ipv6) {
  RuleProduct product({.action = action}, kMasksOfRuleMax);
  if (is_ipv6) {
    product.require(Field::kEthType, *is_ipv6 ? net::ethernet::kIpv6 : net::ethernet::kIpv4);
    multiply_networks(product, of_family(rule.from.networks, *is_ipv6),
                      *is_ipv6 ? Field::kIpv6Src : Field::kIpv4Src);
    multiply_networks(product, of_family(rule.to.networks, *is_ipv6),
                      *is_ipv6 ? Field::kIpv6Dst : Field::kIpv4Dst);
  }
  if (rule.protocol) product.require(Field::kIpProto, *rule.protocol);
  product.multiply(rule.from.ports, [](Rule& one, uint16_t port) {
    set(one.mask, Field::kInPort, classify::all_ones(Field::kInPort));
    set(one.value, Field::kInPort, port);
  });
  product.multiply(rule.to.ports, [](Rule& one, uint16_t port) {
    set(one.mask, kOutPort, classify::all_ones(kOutPort));
    set(one.value, kOutPort, in_register(port));
  });
  multiply_ports(product, rule.source_ports, Field::kTpSrc);
  multiply_ports(product, rule.ports, Field::kTpDst);
  return product;
}

// Whether a rule can match packets of a family.
bool has_family(const RuleConfig& rule, bool is_ipv6) {
  const auto has = [&](const RuleSide& side) {
    return side.networks.empty() || !of_family(side.networks, is_ipv6).empty();
  };
  return has(rule.from) && has(rule.to);
}

}  // namespace

std::optional<std::vector<Rule>> masks_of(const RuleConfig& rule, uint32_t action) {
  const bool names_family = !rule.from.networks.empty() || !rule.to.networks.empty();
  std::vector<std::optional<bool>> families{std::nullopt};
  if (names_family) {
    families.clear();
    for (const bool is_ipv6 : {false, true}) {
      if (has_family(rule, is_ipv6)) families.emplace_back(is_ipv6);
    }
  }
  std::vector<Rule> masks;
  for (const std::optional<bool> is_ipv6 : families) {
    const RuleProduct product = product_of(rule, action, is_ipv6);
    if (product.is_too_large()) return {};
    std::ranges::copy(product.rules(), std::back_inserter(masks));
  }
  if (masks.size() > kMasksOfRuleMax) return {};
  return masks;
}

template <class Address>
PacketFields fields_of(const net::FlowKey<Address>& key, uint16_t in_port,
                       std::optional<uint16_t> out_port) {
  constexpr bool kIsIpv6 = net::FlowKey<Address>::kIsIpv6;
  PacketFields fields;
  set(fields, Field::kInPort, in_port);
  set(fields, Field::kEthType, kIsIpv6 ? net::ethernet::kIpv6 : net::ethernet::kIpv4);
  set(fields, kIsIpv6 ? Field::kIpv6Src : Field::kIpv4Src, number_of(key.source));
  set(fields, kIsIpv6 ? Field::kIpv6Dst : Field::kIpv4Dst, number_of(key.destination));
  set(fields, Field::kIpProto, static_cast<uint64_t>(key.protocol));
  set(fields, Field::kTpSrc, key.source_port);
  set(fields, Field::kTpDst, key.destination_port);
  if (out_port) set(fields, kOutPort, in_register(*out_port));
  return fields;
}
template PacketFields fields_of(const net::FlowKey4&, uint16_t, std::optional<uint16_t>);
template PacketFields fields_of(const net::FlowKey6&, uint16_t, std::optional<uint16_t>);

}  // namespace roost::acl

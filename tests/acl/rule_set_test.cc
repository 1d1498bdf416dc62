// Rules as masks: every packet gets the rule that a loop over the rules, as they are written, would
// give it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "roost/acl/rule_masks.h"
#include "roost/acl/rule_set.h"
#include "roost/classify/rule_product.h"
#include "tests/base/step_count.h"

namespace roost::acl {
namespace {

struct Asked {
  net::FlowKey4 ipv4{};
  net::FlowKey6 ipv6{};
  bool is_ipv6 = false;
  uint16_t in_port = 0;
  std::optional<uint16_t> out_port{};
};

bool is_on_side(const RuleSide& side, const net::IpAddress& address, std::optional<uint16_t> port) {
  bool has_port = side.ports.empty();
  for (const uint16_t one : side.ports) has_port = has_port || port == one;
  bool has_network = side.networks.empty();
  for (const net::IpPrefix& one : side.networks) {
    has_network =
        has_network || (one.address.is_ipv6() == address.is_ipv6() && one.contains(address));
  }
  return has_port && has_network;
}

bool is_in(const std::vector<PortRange>& ranges, uint16_t port) {
  bool is_any = ranges.empty();
  for (const PortRange& range : ranges)
    is_any = is_any || (range.first <= port && port <= range.last);
  return is_any;
}

template <class Key>
bool matches(const RuleConfig& rule, const Key& key, const Asked& asked) {
  return is_on_side(rule.from, key.source, asked.in_port) &&
         is_on_side(rule.to, key.destination, asked.out_port) &&
         (!rule.protocol || *rule.protocol == static_cast<uint8_t>(key.protocol)) &&
         is_in(rule.source_ports, key.source_port) && is_in(rule.ports, key.destination_port);
}

uint32_t model_place(const std::vector<RuleConfig>& rules, const Asked& asked) {
  for (uint32_t place = 0; place < rules.size(); ++place) {
    if (asked.is_ipv6 ? matches(rules[place], asked.ipv6, asked)
                      : matches(rules[place], asked.ipv4, asked)) {
      return place;
    }
  }
  return static_cast<uint32_t>(rules.size());
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t n) { return random_() % n; }
  // Few different ones, so that rules overlap and packets match.
  net::IpAddress address(bool is_ipv6) {
    if (is_ipv6) {
      net::Ipv6Address address{{0x20, 1, 0x0d, 0xb8}};
      for (size_t i : {4U, 5U, 15U}) address.bytes[i] = static_cast<uint8_t>(below(4));
      return address;
    }
    return net::Ipv4Address{{10, static_cast<uint8_t>(below(3)), static_cast<uint8_t>(below(4)),
                             static_cast<uint8_t>(below(256))}};
  }
  net::IpPrefix network() {
    const bool is_ipv6 = below(3) == 0;
    const std::array<uint8_t, 4> lengths4 = {8, 16, 24, 32};
    const std::array<uint8_t, 4> lengths6 = {32, 40, 48, 128};
    return {address(is_ipv6), (is_ipv6 ? lengths6 : lengths4)[below(4)]};
  }
  RuleSide side() {
    RuleSide side;
    if (below(4) == 0) side.ports.push_back(static_cast<uint16_t>(below(3)));
    for (uint64_t left = below(3); left > 0; --left) side.networks.push_back(network());
    return side;
  }
  std::vector<PortRange> ranges() {
    std::vector<PortRange> ranges;
    for (uint64_t left = below(3); left > 0; --left) {
      const auto first = static_cast<uint16_t>(below(1'000));
      ranges.push_back({first, static_cast<uint16_t>(first + (below(2) == 0 ? 0 : below(500)))});
    }
    return ranges;
  }
  RuleConfig rule() {
    RuleConfig rule{.from = side(), .to = side(), .action = static_cast<Action>(below(3))};
    constexpr std::array<uint8_t, 4> kProtocols = {6, 17, 1, 50};
    if (below(3) != 0) rule.protocol = kProtocols[below(4)];
    if (rule.protocol == 6 || rule.protocol == 17) {
      rule.source_ports = ranges();
      rule.ports = ranges();
    }
    return rule;
  }
  Asked packet() {
    Asked asked{.is_ipv6 = below(3) == 0, .in_port = static_cast<uint16_t>(below(3))};
    if (below(4) != 0) asked.out_port = static_cast<uint16_t>(below(3));
    constexpr std::array<uint8_t, 4> kProtocols = {6, 17, 1, 50};
    const auto fill = [&](auto& key) {
      using Address = std::remove_cvref_t<decltype(key.source)>;
      key.source = *address(asked.is_ipv6).as<Address>();
      key.destination = *address(asked.is_ipv6).as<Address>();
      key.protocol = net::IpProtocol{kProtocols[below(4)]};
      key.source_port = static_cast<uint16_t>(below(1'600));
      key.destination_port = static_cast<uint16_t>(below(1'600));
    };
    if (asked.is_ipv6) {
      fill(asked.ipv6);
    } else {
      fill(asked.ipv4);
    }
    return asked;
  }

 private:
  std::mt19937_64 random_;
};

// Behind the rules, what becomes of packets that none of them matches.
Result<std::unique_ptr<RuleSet>> make_set(std::vector<RuleConfig> rules) {
  rules.push_back({.action = Action::kDeny});
  return RuleSet::create(std::move(rules), 1);
}

uint32_t place_of(RuleSet& rules, const Asked& asked) {
  const classify::PacketFields fields = asked.is_ipv6
                                            ? fields_of(asked.ipv6, asked.in_port, asked.out_port)
                                            : fields_of(asked.ipv4, asked.in_port, asked.out_port);
  uint32_t place = 0;
  rules.find(std::span(&fields, 1), std::span(&place, 1));
  return place;
}

TEST(AccessList, every_packet_gets_the_rule_of_a_loop_over_them) {
  Draw draw(20'261'127);
  for (uint64_t set = 0; set < step_count(60); ++set) {
    std::vector<RuleConfig> rules;
    for (uint64_t left = 1 + draw.below(60); left > 0; --left) rules.push_back(draw.rule());
    const auto made = make_set(rules);
    ASSERT_TRUE(made.ok()) << made.error().message;
    for (int packet = 0; packet < 2'000; ++packet) {
      const Asked asked = draw.packet();
      ASSERT_EQ(place_of(*made.value(), asked), model_place(rules, asked))
          << "set " << set << ", packet " << packet;
    }
  }
}

TEST(AccessList, blocks_cover_a_range_once_and_are_as_few_as_there_are) {
  Draw draw(7);
  for (uint64_t i = 0; i < step_count(300); ++i) {
    const auto first = static_cast<uint16_t>(i == 0 ? 0 : draw.below(65'536));
    const auto last = static_cast<uint16_t>(i == 0 ? 65'535 : first + draw.below(65'536U - first));
    std::vector<int> covered(65'536);
    const std::vector<classify::AlignedBlock> blocks = classify::aligned_blocks(first, last);
    EXPECT_LE(blocks.size(), 30U);
    for (const classify::AlignedBlock& block : blocks) {
      for (uint32_t port = 0; port < 65'536; ++port)
        covered[port] += (port & block.mask) == block.value;
    }
    for (uint32_t port = 0; port < 65'536; ++port) {
      ASSERT_EQ(covered[port], port >= first && port <= last ? 1 : 0) << first << "-" << last;
    }
  }
  EXPECT_EQ(classify::aligned_blocks(0, 65'535).size(), 1U);
  EXPECT_EQ(classify::aligned_blocks(1, 65'534).size(), 30U);
}

// Networks of the world's registries, by country: a stand-in for a published rule set, which no
// package has.
std::vector<net::IpPrefix> world_networks(size_t count) {
  std::vector<net::IpPrefix> networks;
  std::ifstream file(ROOST_WORLD_NETWORKS);
  std::string line;
  while (networks.size() < count && std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    char* end = nullptr;
    const uint64_t first = std::strtoull(line.c_str(), &end, 10);
    const uint64_t last = std::strtoull(end + 1, nullptr, 10);
    uint8_t bits = 32;
    while (bits > 0 && first % (uint64_t{1} << (33 - bits)) == 0 &&
           first + (uint64_t{1} << (33 - bits)) - 1 <= last) {
      --bits;
    }
    net::Ipv4Address address;
    for (size_t i = 0; i < 4; ++i) address.bytes[i] = static_cast<uint8_t>(first >> (24 - 8 * i));
    networks.push_back({address, bits});
  }
  return networks;
}

TEST(AccessList, a_hundred_to_ten_thousand_networks_of_the_world) {
  for (const size_t count : {100U, 1'000U, 10'000U}) {
    const std::vector<net::IpPrefix> networks = world_networks(count);
    if (networks.size() < count) {
      GTEST_SKIP() << "NOT TESTED: rules of the world's networks: `./dev setup` fetches them";
    }
    std::vector<RuleConfig> rules;
    for (const net::IpPrefix& network : networks) {
      rules.push_back({.from = {.networks = {network}}, .action = Action::kDeny});
    }
    const auto made = make_set(rules);
    ASSERT_TRUE(made.ok()) << made.error().message;
    Draw draw(count);
    for (uint64_t packet = 0; packet < step_count(2'000); ++packet) {
      Asked asked;
      asked.ipv4.source = networks[draw.below(count)].address.ipv4();
      for (size_t i = 2; i < 4; ++i)
        asked.ipv4.source.bytes[i] = static_cast<uint8_t>(draw.below(256));
      ASSERT_EQ(place_of(*made.value(), asked), model_place(rules, asked)) << packet;
    }
  }
}

}  // namespace
}  // namespace roost::acl

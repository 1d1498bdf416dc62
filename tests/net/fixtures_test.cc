// Runs every packet fixture: what parse() says of a frame, and its bytes after the rewrites that
// are stated. make_fixtures.py describes the format; its scapy model made the expected bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "roost/net/encapsulation.h"
#include "roost/net/icmp_error.h"
#include "roost/net/icmp_translation.h"
#include "roost/net/ip_translation.h"
#include "roost/net/l4_checksum.h"
#include "roost/net/martian.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

constexpr size_t kFixtureCountMin = 100;
constexpr uint32_t kHeadroom = 64;  // two tags and outer headers

struct Fixture {
  std::map<std::string, std::string> values;
  std::vector<std::string> rewrites;
};

std::vector<Fixture> read_fixtures(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Fixture> fixtures;
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (line.empty() || line[0] == '#') continue;
    const std::string key = line.substr(0, colon);
    const std::string value = line.size() > colon + 1 ? line.substr(colon + 2) : "";
    if (key == "name") fixtures.emplace_back();
    if (key == "rewrite") {
      fixtures.back().rewrites.push_back(value);
    } else {
      fixtures.back().values[key] = value;
    }
  }
  return fixtures;
}

std::vector<uint8_t> from_hex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

VlanTags read_tags(std::istream& text) {
  VlanTags tags;
  std::string tag;
  while (text >> tag) {
    tags.tags[tags.count] = {static_cast<uint16_t>(std::stoul(tag.substr(0, 4), nullptr, 16)),
                             static_cast<uint16_t>(std::stoul(tag.substr(5), nullptr, 16))};
    ++tags.count;
  }
  return tags;
}

void rewrite_end(const std::string& end, const std::string& address_text, uint16_t port,
                 Packet& packet, ParsedPacket& parsed) {
  const IpAddress address = IpAddress::parse(address_text).value();
  if (address.is_ipv6()) {
    const Endpoint6 to = {address.ipv6(), port};
    end == "source" ? rewrite_source(packet, parsed, to) : rewrite_destination(packet, parsed, to);
  } else {
    const Endpoint4 to = {address.ipv4(), port};
    end == "source" ? rewrite_source(packet, parsed, to) : rewrite_destination(packet, parsed, to);
  }
}

void encapsulate_as(Encapsulation kind, std::istream& text, Packet& packet,
                    const ParsedPacket& parsed) {
  std::string source_text;
  std::string destination_text;
  uint16_t flow_hash = 0;
  uint16_t identification = 0;
  text >> source_text >> destination_text >> flow_hash >> identification;
  const IpAddress source = IpAddress::parse(source_text).value();
  const IpAddress destination = IpAddress::parse(destination_text).value();
  if (source.is_ipv6()) {
    EXPECT_TRUE(encapsulate(packet, parsed,
                            Tunnel<Ipv6Address>{.kind = kind,
                                                .source = source.ipv6(),
                                                .destination = destination.ipv6(),
                                                .flow_hash = flow_hash}));
  } else {
    EXPECT_TRUE(encapsulate(packet, parsed,
                            Tunnel<Ipv4Address>{.kind = kind,
                                                .source = source.ipv4(),
                                                .destination = destination.ipv4(),
                                                .flow_hash = flow_hash,
                                                .identification = identification}));
  }
}

// To the other version; an ICMP error with what it embeds.
void translate(std::istream& text, Packet& packet, ParsedPacket& parsed) {
  uint16_t identification = 0;
  std::string how;
  text >> identification >> how;
  IcmpError error;
  const bool is_error = parse_icmp_error(packet, parsed, error) == IcmpVerdict::kError;
  const auto growth =
      is_error ? error_translation_growth(packet, error) : translation_growth(packet, parsed);
  ASSERT_EQ(growth.has_value(), how != "no");
  if (!growth) return;
  const uint32_t before = packet.total_bytes;
  if (is_error && parsed.is_ipv6) {
    translate_error_to_ipv4(packet, parsed, error, identification);
  } else if (is_error) {
    translate_error_to_ipv6(packet, parsed, error);
  } else if (parsed.is_ipv6) {
    translate_to_ipv4(packet, parsed, identification);
  } else {
    translate_to_ipv6(packet, parsed, how == "cut");
  }
  const uint32_t added = how == "cut" ? kFragmentHeaderGrowth : 0;
  EXPECT_EQ(packet.total_bytes, before + *growth + added);
}

void apply_rewrite(const std::string& rewrite, Packet& packet, ParsedPacket& parsed) {
  std::istringstream text(rewrite);
  std::string what;
  text >> what;
  if (what == "decrement_ttl") {
    decrement_ttl(packet, parsed);
  } else if (what == "macs") {
    std::string source;
    std::string destination;
    text >> source >> destination;
    rewrite_macs(packet, {.source = MacAddress::parse(source).value(),
                          .destination = MacAddress::parse(destination).value()});
  } else if (what == "ipip" || what == "gue") {
    encapsulate_as(what == "gue" ? Encapsulation::kGue : Encapsulation::kIpInIp, text, packet,
                   parsed);
  } else if (what == "translate") {
    translate(text, packet, parsed);
  } else if (what == "vlan") {
    EXPECT_TRUE(rewrite_vlan_tags(packet, parsed, read_tags(text)));
  } else {
    std::string address;
    uint16_t port = 0;
    text >> address >> port;
    ASSERT_TRUE(text && (what == "source" || what == "destination")) << rewrite;
    rewrite_end(what, address, port, packet, parsed);
  }
}

template <class Key>
std::string flow_text(const Key& key) {
  std::ostringstream text;
  text << (key.protocol == IpProtocol::kTcp ? "tcp " : "udp ") << key.source.format() << ' '
       << key.source_port << ' ' << key.destination.format() << ' ' << key.destination_port;
  return text.str();
}

std::string checksum_text(L4ChecksumVerdict verdict) {
  if (verdict == L4ChecksumVerdict::kRight) return "right";
  return verdict == L4ChecksumVerdict::kWrong ? "wrong" : "not_contiguous";
}

void check_flow(const Fixture& fixture, const Packet& packet, const ParsedPacket& parsed) {
  const bool is_martian = parsed.is_ipv6
                              ? has_martian_address(FlowKey6::from_packet(packet, parsed))
                              : has_martian_address(FlowKey4::from_packet(packet, parsed));
  const std::string flow = parsed.is_ipv6 ? flow_text(FlowKey6::from_packet(packet, parsed))
                                          : flow_text(FlowKey4::from_packet(packet, parsed));
  EXPECT_EQ(flow, fixture.values.at("flow"));
  EXPECT_EQ(is_martian ? "yes" : "no", fixture.values.at("martian"));
  EXPECT_EQ(checksum_text(verify_l4_checksum(packet, parsed)), fixture.values.at("l4_checksum"));
}

void run_fixture(const Fixture& fixture) {
  const std::vector<uint8_t> bytes = from_hex(fixture.values.at("frame"));
  TestFrame::Shape shape = {.headroom = kHeadroom, .contiguous_bytes = {}};
  if (fixture.values.contains("first_segment")) {
    shape.contiguous_bytes = static_cast<uint32_t>(std::stoul(fixture.values.at("first_segment")));
  }
  TestFrame frame(bytes, shape);
  ParsedPacket parsed;
  const ParseVerdict verdict = parse(frame.packet, parsed);
  ASSERT_EQ(parse_verdict_name(verdict), fixture.values.at("verdict"));
  if (verdict == ParseVerdict::kOk) check_flow(fixture, frame.packet, parsed);
  for (const std::string& rewrite : fixture.rewrites) apply_rewrite(rewrite, frame.packet, parsed);
  if (fixture.rewrites.empty()) return;
  std::vector<uint8_t> expected = from_hex(fixture.values.at("expect"));
  EXPECT_EQ(expected.size(), frame.packet.total_bytes);
  expected.resize(std::min<size_t>(expected.size(), frame.packet.contiguous_bytes));
  EXPECT_EQ(frame.bytes(), expected);
}

TEST(Fixtures, every_frame_gets_its_verdict_and_its_bytes) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROOST_NET_FIXTURES)) {
    for (const Fixture& fixture : read_fixtures(entry.path())) {
      SCOPED_TRACE(entry.path().stem().string() + "/" + fixture.values.at("name") + ": " +
                   fixture.values.at("about"));
      run_fixture(fixture);
      ++count;
    }
  }
  EXPECT_GE(count, kFixtureCountMin) << "fixtures were not found";
}

}  // namespace
}  // namespace roost::net

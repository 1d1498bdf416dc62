// ARP, neighbour discovery and echo on frames that Scapy made: what is read from them, that the
// same bytes are written back, and that one wrong byte is refused where the standards say so.
#include <gtest/gtest.h>

#include <vector>

#include "roost/net/arp.h"
#include "roost/net/checksum.h"
#include "roost/net/echo.h"
#include "roost/net/frame_header.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"
#include "tests/net/message_frames.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

const MacAddress kClientMac = {{2, 0, 0, 0, 1, 0x10}};
const MacAddress kPortMac = {{2, 0, 0, 0, 0, 1}};
const Ipv4Address kClient = {{192, 0, 2, 0x0a}};
const Ipv4Address kPort = {{192, 0, 2, 1}};
const Ipv6Address kClient6 = {{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10}};
const Ipv6Address kPort6 = {{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

std::optional<ArpMessage> arp_of(const Bytes& frame) {
  TestFrame test(frame);
  ParsedPacket parsed;
  EXPECT_EQ(parse(test.packet, parsed), ParseVerdict::kNotIp);
  return parse_arp(std::span(frame).subspan(14 + 4 * size_t{parsed.vlan.count}));
}

std::optional<NeighbourMessage> message_of(const Bytes& frame) {
  TestFrame test(frame);
  ParsedPacket parsed;
  if (parse(test.packet, parsed) != ParseVerdict::kUnsupportedProtocol) return {};
  return parse_neighbour_message(test.packet, parsed);
}

// One byte set to a value, and the ICMPv6 checksum made right again if asked for.
Bytes changed(Bytes frame, size_t at, uint8_t value, bool mends = true) {
  frame[at] = value;
  if (mends) mend_checksum(frame);
  return frame;
}

TEST(Arp, a_request_and_a_tagged_reply_are_read_and_written) {
  const ArpMessage request = {true, kClientMac, kClient, {}, kPort};
  const ArpMessage reply = {false, kPortMac, kPort, kClientMac, kClient};
  EXPECT_EQ(arp_of(kArpRequest), request);
  EXPECT_EQ(arp_of(kArpReply), reply);

  Bytes frame(kArpReply.size());
  VlanTags tags{.count = 1};
  tags.tags[0] = {vlan::kCustomer, 7};
  const FrameHeader header{.macs = {.source = kPortMac, .destination = kClientMac},
                           .vlan = tags,
                           .ether_type = ethernet::kArp};
  EXPECT_EQ(header.byte_count(), 18u);
  write_arp(write_frame_header(frame, header), reply);
  EXPECT_EQ(frame, kArpReply);
}

TEST(Arp, what_is_not_a_message_for_ipv4_over_ethernet_from_a_station_is_refused) {
  for (const auto& [at, value] : std::vector<std::pair<size_t, uint8_t>>{
           {15, 6}, {16, 9}, {18, 8}, {19, 16}, {21, 3}, {21, 0}, {22, 3}}) {
    Bytes frame = kArpRequest;
    frame[at] = value;
    EXPECT_FALSE(arp_of(frame)) << "byte " << at;
  }
  Bytes frame = kArpRequest;
  std::fill(frame.begin() + 22, frame.begin() + 28, uint8_t{0});
  EXPECT_FALSE(arp_of(frame)) << "the sender's MAC is zero";
  frame = kArpRequest;
  frame.pop_back();
  EXPECT_FALSE(arp_of(frame)) << "a byte too few";
  frame = kArpRequest;
  frame.resize(60);
  EXPECT_TRUE(arp_of(frame)) << "padding";
}

TEST(NeighbourDiscovery, messages_are_read_and_written) {
  const NeighbourMessage solicitation = {.is_solicitation = true,
                                         .source = kClient6,
                                         .destination = solicited_node_group(kPort6),
                                         .target = kPort6,
                                         .link_address = kClientMac};
  const NeighbourMessage duplicate_check = {
      .is_solicitation = true, .destination = solicited_node_group(kPort6), .target = kPort6};
  const NeighbourMessage advertisement = {.is_router = true,
                                          .is_solicited = true,
                                          .is_override = true,
                                          .source = kPort6,
                                          .destination = kClient6,
                                          .target = kPort6,
                                          .link_address = kPortMac};
  const std::vector<std::pair<Bytes, NeighbourMessage>> cases = {{kSolicitation, solicitation},
                                                                 {kDuplicateCheck, duplicate_check},
                                                                 {kAdvertisement, advertisement}};
  for (const auto& [frame, message] : cases) {
    EXPECT_EQ(message_of(frame), message);
    Bytes written(kNeighbourMessageBytes, 0xee);
    written.resize(write_neighbour_message(written, message));
    EXPECT_EQ(written, Bytes(frame.begin() + 14, frame.end()));
  }
  EXPECT_EQ(group_mac(solicited_node_group(kPort6)), (MacAddress{{0x33, 0x33, 0xff, 0, 0, 1}}));
}

TEST(NeighbourDiscovery, what_the_standard_says_to_discard_is_refused) {
  EXPECT_FALSE(message_of(changed(kSolicitation, 21, 254))) << "hop limit";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At + 1, 1))) << "code";
  EXPECT_FALSE(message_of(changed(kSolicitation, 60, 1, false))) << "checksum";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At, 134))) << "another type";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At + 8, 0xff))) << "target is a group";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At + 25, 0))) << "option of length 0";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At + 25, 2))) << "option beyond the end";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At + 26, 3))) << "MAC of a group";
  EXPECT_FALSE(message_of(changed(kSolicitation, 22, 0xff))) << "from a group";
  EXPECT_FALSE(message_of(changed(kDuplicateCheck, 53, 2))) << ":: to another group";
  EXPECT_TRUE(message_of(changed(kAdvertisement, kIcmp6At + 4, 0x40)));
  Bytes to_all = kAdvertisement;
  to_all[38] = 0xff;
  EXPECT_FALSE(message_of(changed(to_all, 39, 2))) << "solicited and to a group";
  EXPECT_TRUE(message_of(changed(changed(to_all, 39, 2), kIcmp6At + 4, 0x20)));
  Bytes from_nobody = kSolicitation;
  std::fill(from_nobody.begin() + 22, from_nobody.begin() + 38, uint8_t{0});
  EXPECT_FALSE(message_of(changed(from_nobody, 22, 0))) << ":: with a link-layer address";
  EXPECT_TRUE(message_of(changed(kSolicitation, kIcmp6At + 24, 14))) << "an option unknown to us";
  EXPECT_FALSE(message_of(changed(kSolicitation, kIcmp6At + 24, 14))->link_address);
}

TEST(Echo, a_request_becomes_the_reply_that_scapy_makes) {
  for (const auto& [request, reply] : {std::pair{kEcho4, kEchoReply4}, {kEcho6, kEchoReply6}}) {
    TestFrame frame(request);
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
    ASSERT_TRUE(is_echo_request(frame.packet, parsed));
    reply_to_echo(frame.packet, parsed);
    EXPECT_EQ(frame.bytes(), reply);
    EXPECT_FALSE(is_echo_request(frame.packet, parsed));
  }
}

TEST(Echo, a_reply_of_zeroes_only_has_a_checksum_that_is_right) {
  Bytes zeroes = kEcho4;  // identifier, sequence number and payload are 0
  std::fill(zeroes.begin() + 34, zeroes.end(), uint8_t{0});
  zeroes[34] = 8;
  store_be16(&zeroes[36], 0xf7ff);
  TestFrame frame(zeroes);
  ParsedPacket parsed;
  ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
  reply_to_echo(frame.packet, parsed);
  EXPECT_EQ(checksum_of(sum_words(std::span<const uint8_t>(frame.bytes()).subspan(34))), 0);
  EXPECT_EQ(load_be16(frame.packet.data + 36), 0xffff);
}

TEST(Echo, a_reply_has_the_key_of_its_request_reversed) {
  for (const auto& [request, reply] : {std::pair{kEcho4, kEchoReply4}, {kEcho6, kEchoReply6}}) {
    const auto ports_of = [](const Bytes& bytes, EchoKind kind) {
      TestFrame frame(bytes);
      ParsedPacket parsed;
      EXPECT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
      EXPECT_EQ(echo_kind_of(frame.packet, parsed), kind);
      EXPECT_TRUE(read_echo_ports(frame.packet, parsed));
      return std::pair(parsed.source_port, parsed.destination_port);
    };
    const uint16_t identifier = load_be16(&request[request[12] == 8 ? 38 : 58]);
    EXPECT_EQ(ports_of(request, EchoKind::kRequest), std::pair(identifier, uint16_t{0}));
    EXPECT_EQ(ports_of(reply, EchoKind::kReply), std::pair(uint16_t{0}, identifier));
  }
}

TEST(Echo, an_end_that_is_translated_has_another_identifier_if_it_asks) {
  const auto icmp_sum = [](const Bytes& bytes) {
    return checksum_of(sum_words(std::span<const uint8_t>(bytes).subspan(34)));
  };
  for (const bool is_source : {true, false}) {
    TestFrame frame(kEcho4);
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
    ASSERT_TRUE(read_echo_ports(frame.packet, parsed));
    const Endpoint4 to{Ipv4Address{{203, 0, 113, 7}}, 0xabcd};
    if (is_source) {
      rewrite_source(frame.packet, parsed, to);
    } else {
      rewrite_destination(frame.packet, parsed, to);
    }
    Bytes expected = kEcho4;
    std::copy(to.address.bytes.begin(), to.address.bytes.end(),
              expected.begin() + (is_source ? 26 : 30));
    store_be16(&expected[24], 0);
    store_be16(&expected[24], checksum_of(sum_words(std::span(expected).subspan(14, 20))));
    if (is_source) {
      store_be16(&expected[38], to.port);
      store_be16(&expected[36], 0);
      store_be16(&expected[36], checksum_of(sum_words(std::span(expected).subspan(34))));
    }
    EXPECT_EQ(frame.bytes(), expected);
    EXPECT_EQ(icmp_sum(frame.bytes()), 0);
    EXPECT_EQ(parsed.source_port, load_be16(&expected[38]));
    EXPECT_EQ(parsed.destination_port, 0);
  }
}

TEST(Echo, a_damaged_request_becomes_a_damaged_reply_and_a_short_one_none) {
  Bytes damaged = kEcho6;
  damaged.back() ^= 1;
  TestFrame frame(damaged);
  ParsedPacket parsed;
  ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
  reply_to_echo(frame.packet, parsed);
  Bytes expected = kEchoReply6;
  expected.back() ^= 1;
  EXPECT_EQ(frame.bytes(), expected);

  for (const Bytes& request : {kEcho4, kEcho6}) {
    TestFrame cut(request, {.contiguous_bytes = static_cast<uint32_t>(request.size() - 8)});
    ASSERT_EQ(parse(cut.packet, parsed), ParseVerdict::kUnsupportedProtocol);
    EXPECT_FALSE(is_echo_request(cut.packet, parsed));
  }
}

}  // namespace
}  // namespace roost::net

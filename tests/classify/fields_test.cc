// Fields by name, and out of packets.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "roost/classify/packet_fields.h"
#include "roost/net/checksum.h"

namespace roost::classify {
namespace {

// A frame by its bytes, with the checksum of its IPv4 header put right.
struct Frame {
  std::vector<uint8_t> bytes;

  Frame& ethernet(std::vector<uint8_t> tags_and_type) {
    bytes = {0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02};
    bytes.insert(bytes.end(), tags_and_type.begin(), tags_and_type.end());
    return *this;
  }
  Frame& ipv4(uint8_t service, uint16_t fragment, uint8_t protocol, std::vector<uint8_t> payload) {
    const size_t at = bytes.size();
    const size_t total = 20 + payload.size();
    const std::vector<uint8_t> header = {0x45,
                                         service,
                                         0,
                                         static_cast<uint8_t>(total),
                                         0,
                                         1,
                                         static_cast<uint8_t>(fragment >> 8),
                                         static_cast<uint8_t>(fragment),
                                         64,
                                         protocol,
                                         0,
                                         0,
                                         10,
                                         1,
                                         2,
                                         3,
                                         192,
                                         0,
                                         2,
                                         9};
    bytes.insert(bytes.end(), header.begin(), header.end());
    const uint16_t sum = net::checksum_of(net::sum_words({&bytes[at], 20}));
    bytes[at + 10] = static_cast<uint8_t>(sum >> 8);
    bytes[at + 11] = static_cast<uint8_t>(sum);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return *this;
  }
  [[nodiscard]] net::ParseVerdict parse(PacketFields& fields) {
    const auto size = static_cast<uint32_t>(bytes.size());
    const net::Packet packet{.data = bytes.data(), .contiguous_bytes = size, .total_bytes = size};
    net::ParsedPacket parsed;
    const net::ParseVerdict verdict = net::parse(packet, parsed);
    // Nothing of what stood there before stays.
    fields.words.fill(~uint64_t{0});
    if (has_fields(verdict)) read_fields(packet, parsed, verdict, 7, fields);
    return verdict;
  }
};

std::vector<uint8_t> tcp_syn() {
  return {0x12, 0x34, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x02, 0, 0, 0, 0, 0, 0};
}

TEST(Fields, each_bit_of_a_field_is_its_own) {
  for (const FieldPlace& place : kFields) {
    PacketFields fields;
    set(fields, place.field, all_ones(place.field));
    EXPECT_EQ(get(fields, place.field), all_ones(place.field)) << place.name;
    for (const FieldPlace& other : kFields) {
      const bool shares = place.word == other.word && place.shift == other.shift;
      const FieldNumber expected = shares ? get(fields, other.field) : FieldNumber{};
      EXPECT_EQ(get(fields, other.field), expected) << place.name << other.name;
    }
    set(fields, place.field, FieldNumber{});
    EXPECT_EQ(fields, PacketFields{});
  }
}

TEST(Fields, a_prefix_is_ones_from_the_top) {
  EXPECT_EQ(prefix_mask(Field::kIpv4Src, 0), FieldNumber{});
  EXPECT_EQ(prefix_mask(Field::kIpv4Src, 24), (FieldNumber{0, 0xffff'ff00}));
  EXPECT_EQ(prefix_mask(Field::kIpv4Src, 32), (FieldNumber{0, 0xffff'ffff}));
  EXPECT_EQ(prefix_mask(Field::kIpv6Src, 1), (FieldNumber{uint64_t{1} << 63, 0}));
  EXPECT_EQ(prefix_mask(Field::kIpv6Src, 64), (FieldNumber{~uint64_t{0}, 0}));
  EXPECT_EQ(prefix_mask(Field::kIpv6Src, 65), (FieldNumber{~uint64_t{0}, uint64_t{1} << 63}));
  EXPECT_EQ(prefix_mask(Field::kIpv6Src, 128), all_ones(Field::kIpv6Src));
}

TEST(Fields, a_tcp_packet_has_all_that_its_headers_say) {
  PacketFields fields;
  Frame frame;
  frame.ethernet({0x81, 0, 0xb0, 0x64, 0x08, 0}).ipv4(0xb8, 0, 6, tcp_syn());
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kOk);
  const auto number = [&](Field field) { return get(fields, field).low; };
  EXPECT_EQ(number(Field::kInPort), 7u);
  EXPECT_EQ(number(Field::kEthDst), 0x0200'0000'0001u);
  EXPECT_EQ(number(Field::kEthSrc), 0x0200'0000'0002u);
  EXPECT_EQ(number(Field::kEthType), 0x0800u);
  EXPECT_EQ(number(Field::kVlan), 0xa064u | kVlanPresent);
  EXPECT_EQ(number(Field::kIpv4Src), 0x0a01'0203u);
  EXPECT_EQ(number(Field::kIpv4Dst), 0xc000'0209u);
  EXPECT_EQ(number(Field::kIpProto), 6u);
  EXPECT_EQ(number(Field::kIpDscp), 46u);
  EXPECT_EQ(number(Field::kIpFrag), 0u);
  EXPECT_EQ(number(Field::kTpSrc), 0x1234u);
  EXPECT_EQ(number(Field::kTpDst), 80u);
  EXPECT_EQ(number(Field::kTcpFlags), 2u);
  EXPECT_EQ(number(Field::kCtState), 0u);
  EXPECT_EQ(number(Field::kReg0), 0u);
  EXPECT_EQ(number(Field::kReg3), 0u);
  EXPECT_EQ(get(fields, Field::kIpv6Src), FieldNumber{});
}

TEST(Fields, an_ipv6_packet_has_its_addresses_and_dscp) {
  Frame frame;
  frame.ethernet({0x86, 0xdd});
  std::vector<uint8_t> header = {0x6b, 0x80, 0, 0, 0, 8, 58, 64};  // DSCP 46, ICMPv6
  for (uint8_t i = 0; i < 32; ++i) header.push_back(static_cast<uint8_t>(0x20 + i));
  const std::vector<uint8_t> echo = {128, 0, 0, 0, 0, 0, 0, 0};
  frame.bytes.insert(frame.bytes.end(), header.begin(), header.end());
  frame.bytes.insert(frame.bytes.end(), echo.begin(), echo.end());
  PacketFields fields;
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kUnsupportedProtocol);
  EXPECT_EQ(get(fields, Field::kIpv6Src),
            (FieldNumber{0x2021'2223'2425'2627, 0x2829'2a2b'2c2d'2e2f}));
  EXPECT_EQ(get(fields, Field::kIpv6Dst),
            (FieldNumber{0x3031'3233'3435'3637, 0x3839'3a3b'3c3d'3e3f}));
  EXPECT_EQ(get(fields, Field::kIpDscp).low, 46u);
  EXPECT_EQ(get(fields, Field::kIcmpType).low, 128u);
  EXPECT_EQ(get(fields, Field::kIpv4Src).low, 0u);
}

TEST(Fields, an_icmp_type_and_code_stand_where_ports_do) {
  PacketFields fields;
  Frame frame;
  frame.ethernet({0x08, 0}).ipv4(0, 0, 1, {3, 4, 0, 0, 0, 0, 0, 0});
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kUnsupportedProtocol);
  EXPECT_EQ(get(fields, Field::kIcmpType).low, 3u);
  EXPECT_EQ(get(fields, Field::kIcmpCode).low, 4u);
  EXPECT_EQ(get(fields, Field::kTpDst).low, 4u);
  // A part of its header is there: neither is.
  frame.ethernet({0x08, 0}).ipv4(0, 0, 1, {3, 4, 0, 0, 0, 0, 0});
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kUnsupportedProtocol);
  EXPECT_EQ(get(fields, Field::kIcmpType).low, 0u);
  EXPECT_EQ(get(fields, Field::kIcmpCode).low, 0u);
}

TEST(Fields, sctp_has_ports_when_all_of_its_header_is_there) {
  PacketFields fields;
  Frame frame;
  std::vector<uint8_t> header = {0, 22, 0, 53, 0, 0, 0, 1, 0, 0, 0, 0};
  frame.ethernet({0x08, 0}).ipv4(0, 0, 132, header);
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kUnsupportedProtocol);
  EXPECT_EQ(get(fields, Field::kTpSrc).low, 22u);
  EXPECT_EQ(get(fields, Field::kTpDst).low, 53u);
  header.pop_back();
  frame.ethernet({0x08, 0}).ipv4(0, 0, 132, header);
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kUnsupportedProtocol);
  EXPECT_EQ(get(fields, Field::kTpSrc).low, 0u);
}

TEST(Fields, a_later_fragment_of_ipv6_is_of_the_protocol_fragment) {
  for (const unsigned offset : {0u, 8u}) {
    Frame frame;
    frame.ethernet({0x86, 0xdd});
    std::vector<uint8_t> header = {0x60, 0, 0, 0, 0, 24, 44, 64};
    header.resize(40);
    const std::vector<uint8_t> fragment = {17, 0,  0, static_cast<uint8_t>(offset | 1),
                                           0,  0,  0, 7,
                                           0,  9,  0, 53,
                                           0,  64, 0, 0,
                                           0,  0,  0, 0,
                                           0,  0,  0, 0};
    frame.bytes.insert(frame.bytes.end(), header.begin(), header.end());
    frame.bytes.insert(frame.bytes.end(), fragment.begin(), fragment.end());
    PacketFields fields;
    ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kFragment);
    EXPECT_EQ(get(fields, Field::kIpProto).low, offset == 0 ? 17u : 44u);
    EXPECT_EQ(get(fields, Field::kTpDst).low, offset == 0 ? 53u : 0u);
  }
}

TEST(Fields, fragments_say_whether_they_are_first) {
  PacketFields fields;
  Frame frame;
  std::vector<uint8_t> payload = tcp_syn();
  payload.resize(24);
  frame.ethernet({0x08, 0}).ipv4(0, 0x2000, 6, payload);
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kFragment);
  EXPECT_EQ(get(fields, Field::kIpFrag).low, kFragmentAny);
  EXPECT_EQ(get(fields, Field::kTpDst).low, 80u);
  frame.ethernet({0x08, 0}).ipv4(0, 0x0010, 6, payload);
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kFragment);
  EXPECT_EQ(get(fields, Field::kIpFrag).low, uint64_t{kFragmentAny} | kFragmentLater);
  EXPECT_EQ(get(fields, Field::kTpDst).low, 0u);
  // The middle of a message is not its type.
  frame.ethernet({0x08, 0}).ipv4(0, 0x0010, 1, payload);
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kUnsupportedProtocol);
  EXPECT_EQ(get(fields, Field::kIcmpType).low, 0u);
}

TEST(Fields, what_is_not_ip_has_those_of_ethernet) {
  PacketFields fields;
  Frame frame;
  frame.ethernet({0x88, 0xa8, 0x00, 0x05, 0x81, 0, 0, 6, 0x08, 0x06});
  ASSERT_EQ(frame.parse(fields), net::ParseVerdict::kNotIp);
  EXPECT_EQ(get(fields, Field::kEthType).low, 0x0806u);
  EXPECT_EQ(get(fields, Field::kVlan).low, 5u | kVlanPresent);
  EXPECT_EQ(fields.words[8], 0u);
}

TEST(Fields, broken_packets_have_none) {
  PacketFields fields;
  Frame frame;
  frame.ethernet({0x08});
  EXPECT_FALSE(has_fields(frame.parse(fields)));
  frame.ethernet({0x08, 0}).ipv4(0, 0, 6, tcp_syn());
  frame.bytes[24] ^= 1;
  EXPECT_FALSE(has_fields(frame.parse(fields)));
}

}  // namespace
}  // namespace roost::classify

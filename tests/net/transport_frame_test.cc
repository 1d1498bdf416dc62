// Frames that are made here parse back to what they were made of, with right checksums.
#include "roost/net/transport_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "roost/net/l4_checksum.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

template <class Address>
TransportFrame<Address> random_header(std::mt19937_64& draw) {
  TransportFrame<Address> header;
  const auto fill = [&](auto& bytes) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(draw());
  };
  fill(header.macs.source.bytes);
  fill(header.macs.destination.bytes);
  fill(header.source.address.bytes);
  fill(header.destination.address.bytes);
  header.source.port = static_cast<uint16_t>(draw());
  header.destination.port = static_cast<uint16_t>(draw());
  header.protocol = draw() % 2 == 0 ? IpProtocol::kTcp : IpProtocol::kUdp;
  header.vlan.count = static_cast<uint8_t>(draw() % 3);
  for (size_t i = 0; i < header.vlan.count; ++i)
    header.vlan.tags[i].control = static_cast<uint16_t>(draw() % 4'095);
  header.tcp_flags = static_cast<uint8_t>(draw() % 32);
  header.sequence = static_cast<uint32_t>(draw());
  header.acknowledgement = static_cast<uint32_t>(draw());
  return header;
}

template <class Address>
void check_random_frames() {
  std::mt19937_64 draw(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto header = random_header<Address>(draw);
    const size_t payload_bytes = draw() % 1'400;
    const size_t padding_bytes = draw() % 10;
    std::vector<uint8_t> frame(header.header_bytes() + payload_bytes + padding_bytes);
    for (uint8_t& byte : frame) byte = static_cast<uint8_t>(draw());
    const std::vector<uint8_t> before = frame;
    write_transport_frame<Address>(frame, header, payload_bytes);
    ASSERT_TRUE(std::equal(frame.begin() + static_cast<ptrdiff_t>(header.header_bytes()),
                           frame.end(),
                           before.begin() + static_cast<ptrdiff_t>(header.header_bytes())));
    TestFrame test(frame);
    ParsedPacket parsed;
    ASSERT_EQ(parse(test.packet, parsed), ParseVerdict::kOk);
    ASSERT_EQ(verify_l4_checksum(test.packet, parsed), L4ChecksumVerdict::kRight);
    const auto key = FlowKey<Address>::from_packet(test.packet, parsed);
    ASSERT_EQ(key.source, header.source.address);
    ASSERT_EQ(key.destination, header.destination.address);
    ASSERT_EQ(key.source_port, header.source.port);
    ASSERT_EQ(key.destination_port, header.destination.port);
    ASSERT_EQ(key.protocol, header.protocol);
    ASSERT_EQ(parsed.vlan, header.vlan);
    ASSERT_EQ(read_macs(test.packet).source, header.macs.source);
    ASSERT_EQ(read_macs(test.packet).destination, header.macs.destination);
    ASSERT_EQ(parsed.l4_bytes, header.l4_header_bytes() + payload_bytes);
    if (header.protocol != IpProtocol::kTcp) continue;
    const TcpSegment segment = read_tcp_segment(test.packet, parsed);
    ASSERT_EQ(segment.flags, header.tcp_flags);
    ASSERT_EQ(segment.sequence, header.sequence);
    ASSERT_EQ(segment.acknowledgement, header.acknowledgement);
  }
}

TEST(TransportFrame, parses_back_ipv4) { check_random_frames<Ipv4Address>(); }
TEST(TransportFrame, parses_back_ipv6) { check_random_frames<Ipv6Address>(); }

}  // namespace
}  // namespace roost::net

// Rewrites of random packets against recomputed checksums, and the edges of moving VLAN tags.
#include "roost/net/rewrite.h"

#include <gtest/gtest.h>

#include "roost/net/l4_checksum.h"
#include "tests/base/step_count.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

template <class Address>
Endpoint<Address> random_endpoint(std::mt19937_64& random) {
  Endpoint<Address> endpoint;
  for (uint8_t& byte : endpoint.address.bytes) byte = static_cast<uint8_t>(random());
  endpoint.port = static_cast<uint16_t>(random());
  return endpoint;
}

template <class Address>
void rewrite_randomly(const Packet& packet, ParsedPacket& parsed, std::mt19937_64& random) {
  if (random() % 4 != 0) rewrite_source(packet, parsed, random_endpoint<Address>(random));
  if (random() % 4 != 0) rewrite_destination(packet, parsed, random_endpoint<Address>(random));
  if (random() % 4 != 0) decrement_ttl(packet, parsed);
}

TEST(Rewrite, updated_checksums_equal_recomputed_ones) {
  std::mt19937_64 random(41);
  for (uint64_t round = 0; round < step_count(50'000); ++round) {
    const TestFrame frame(random_frame(random));
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    if (parsed.is_ipv6) {
      rewrite_randomly<Ipv6Address>(frame.packet, parsed, random);
    } else {
      rewrite_randomly<Ipv4Address>(frame.packet, parsed, random);
    }
    std::vector<uint8_t> recomputed = frame.bytes();
    recompute_checksums(recomputed, parsed);
    ASSERT_EQ(frame.bytes(), recomputed) << "round " << round;
  }
}

TEST(Rewrite, a_wrong_checksum_stays_wrong) {
  std::mt19937_64 random(42);
  for (size_t round = 0; round < 5'000; ++round) {
    std::vector<uint8_t> bytes = random_frame(random);
    ParsedPacket parsed;
    ASSERT_EQ(parse(TestFrame(bytes).packet, parsed), ParseVerdict::kOk);
    bytes[parsed.l4_offset] ^= 0x10;  // a bit of the source port, damaged on the way
    const TestFrame frame(bytes);
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    const L4ChecksumVerdict before = verify_l4_checksum(frame.packet, parsed);
    if (parsed.is_ipv6) {
      rewrite_destination(frame.packet, parsed, random_endpoint<Ipv6Address>(random));
    } else {
      rewrite_destination(frame.packet, parsed, random_endpoint<Ipv4Address>(random));
    }
    ASSERT_EQ(verify_l4_checksum(frame.packet, parsed), before);
  }
}

TEST(Rewrite, there_and_back_is_the_same_packet) {
  std::mt19937_64 random(43);
  for (size_t round = 0; round < 5'000; ++round) {
    const std::vector<uint8_t> bytes = random_frame(random);
    const TestFrame frame(bytes);
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    if (parsed.is_ipv6) {
      const FlowKey6 key = FlowKey6::from_packet(frame.packet, parsed);
      rewrite_source(frame.packet, parsed, random_endpoint<Ipv6Address>(random));
      rewrite_source(frame.packet, parsed, Endpoint6{key.source, key.source_port});
    } else {
      const FlowKey4 key = FlowKey4::from_packet(frame.packet, parsed);
      rewrite_source(frame.packet, parsed, random_endpoint<Ipv4Address>(random));
      rewrite_source(frame.packet, parsed, Endpoint4{key.source, key.source_port});
    }
    ASSERT_EQ(frame.bytes(), bytes) << "round " << round;
  }
}

VlanTags tags_of(uint8_t count) {
  VlanTags tags;
  tags.count = count;
  for (uint8_t i = 0; i < count; ++i)
    tags.tags[i] = {vlan::kCustomer, static_cast<uint16_t>(100 + i)};
  return tags;
}

TEST(Rewrite, tags_that_do_not_fit_the_headroom_change_nothing) {
  std::mt19937_64 random(44);
  for (size_t round = 0; round < 1'000; ++round) {
    const std::vector<uint8_t> bytes = random_frame(random);
    const uint32_t headroom = static_cast<uint32_t>(random() % 12);
    TestFrame frame(bytes, {.headroom = headroom, .contiguous_bytes = {}});
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    const ParsedPacket parsed_before = parsed;
    const Packet packet_before = frame.packet;
    const VlanTags wanted = tags_of(static_cast<uint8_t>(random() % 3));
    const bool fits = wanted.count * 4u <= parsed.vlan.count * 4u + headroom;
    ASSERT_EQ(rewrite_vlan_tags(frame.packet, parsed, wanted), fits);
    const ptrdiff_t moved = packet_before.data - frame.packet.data;
    if (fits) {
      EXPECT_EQ(moved, 4 * (wanted.count - parsed_before.vlan.count));
      EXPECT_EQ(frame.packet.headroom, headroom - moved);
      EXPECT_EQ(frame.packet.total_bytes, packet_before.total_bytes + moved);
      EXPECT_EQ(frame.packet.contiguous_bytes, packet_before.contiguous_bytes + moved);
    } else {
      EXPECT_EQ(moved, 0);
      EXPECT_EQ(parsed, parsed_before);
      EXPECT_EQ(frame.bytes(), bytes);
    }
  }
}

TEST(Rewrite, macs_read_back_as_written) {
  std::mt19937_64 random(45);
  const TestFrame frame(random_frame(random));
  const MacPair macs = {.source = {{2, 0, 0, 0, 0, 1}}, .destination = {{2, 0, 0, 0, 0, 2}}};
  rewrite_macs(frame.packet, macs);
  EXPECT_EQ(read_macs(frame.packet).source, macs.source);
  EXPECT_EQ(read_macs(frame.packet).destination, macs.destination);
  EXPECT_EQ(frame.bytes()[0], 2);
  EXPECT_EQ(frame.bytes()[5], 2) << "the destination comes first";
}

}  // namespace
}  // namespace roost::net

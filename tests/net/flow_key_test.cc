// Flow keys: their bytes, and their other direction.
#include "roost/net/flow_key.h"

#include <gtest/gtest.h>

#include <bit>

namespace roost::net {
namespace {

TEST(FlowKey, every_byte_is_where_the_diagram_says) {
  const FlowKey4 key = {.source = {{1, 2, 3, 4}},
                        .destination = {{5, 6, 7, 8}},
                        .source_port = 0x0a0a,
                        .destination_port = 0x0b0b,
                        .protocol = IpProtocol::kUdp};
  const std::array<uint8_t, 16> expected = {1, 2, 3, 4, 5, 6, 7, 8, 10, 10, 11, 11, 17, 0, 0, 0};
  EXPECT_EQ((std::bit_cast<std::array<uint8_t, 16>>(key)), expected);
}

TEST(FlowKey, the_other_direction_swaps_both_ends) {
  FlowKey6 key = {.source_port = 1, .destination_port = 2, .protocol = IpProtocol::kTcp};
  key.source.bytes[15] = 7;
  key.destination.bytes[0] = 9;
  const FlowKey6 reversed = key.reversed();
  EXPECT_EQ(reversed.source, key.destination);
  EXPECT_EQ(reversed.destination, key.source);
  EXPECT_EQ(reversed.source_port, 2);
  EXPECT_EQ(reversed.destination_port, 1);
  EXPECT_EQ(reversed.protocol, IpProtocol::kTcp);
  EXPECT_EQ(reversed.reversed(), key);
}

TEST(FlowKey, each_field_tells_keys_apart) {
  const FlowKey4 key = {.source_port = 1, .destination_port = 2, .protocol = IpProtocol::kTcp};
  FlowKey4 other = key;
  other.source.bytes[3] = 1;
  EXPECT_NE(other, key);
  other = key;
  other.destination.bytes[0] = 1;
  EXPECT_NE(other, key);
  other = key;
  other.source_port = 3;
  EXPECT_NE(other, key);
  other = key;
  other.destination_port = 3;
  EXPECT_NE(other, key);
  other = key;
  other.protocol = IpProtocol::kUdp;
  EXPECT_NE(other, key);
}

}  // namespace
}  // namespace roost::net

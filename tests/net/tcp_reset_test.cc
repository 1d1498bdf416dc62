// Resets of our own, byte by byte as another program (scapy) makes them, and to whom there is none.
#include "roost/net/tcp_reset.h"

#include <gtest/gtest.h>

#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

using ResetBytes = std::vector<uint8_t>;

const ResetBytes kSyn = {2,    0,    0,    0,    0,    1,    2,    0,    0,    0,    1,    0x10,
                         8,    0,    0x45, 0,    0,    0x2a, 0x12, 0x34, 0x40, 0,    0x40, 6,
                         0x3c, 0xc,  0xc0, 0,    2,    0xa,  0xc6, 0x33, 0x64, 0x50, 0x9c, 0x40,
                         0,    0x51, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,    0x50, 2,
                         0x10, 0,    0xb5, 0x5e, 0,    0,    0x61, 0x62};
const ResetBytes kResetOfSyn = {2,    0,   0,    0,    1,    0x10, 2,    0,    0,    0,    0,    1,
                                0x81, 0,   0,    7,    8,    0,    0x45, 0,    0,    0x28, 0,    0,
                                0x40, 0,   0x40, 6,    0x4e, 0x42, 0xc6, 0x33, 0x64, 0x50, 0xc0, 0,
                                2,    0xa, 0,    0x51, 0x9c, 0x40, 0,    0,    0,    0,    0,    0,
                                0,    2,   0x50, 0x14, 0,    0,    0x26, 0xaf, 0,    0};
const ResetBytes kData6 = {
    2, 0, 0,    0,    0,    1,    2,    0,    0,   0,    1,    0x10, 0x86, 0xdd, 0x60, 0,
    0, 0, 0,    0x17, 6,    0x40, 0x20, 1,    0xd, 0xb8, 0,    1,    0,    0,    0,    0,
    0, 0, 0,    0,    0,    0x10, 0x20, 1,    0xd, 0xb8, 0xff, 0xff, 0,    0,    0,    0,
    0, 0, 0,    0,    0,    0x80, 0x9c, 0x40, 0,   0x51, 0,    0,    0,    5,    1,    2,
    3, 4, 0x50, 0x18, 0x10, 0,    0xde, 0xc7, 0,   0,    0x61, 0x62, 0x63};
const ResetBytes kResetOfData6 = {
    2, 0, 0, 0, 1,    0x10, 2,    0,    0,    0,   0,    1,    0x86, 0xdd, 0x60,
    0, 0, 0, 0, 0x14, 6,    0x40, 0x20, 1,    0xd, 0xb8, 0xff, 0xff, 0,    0,
    0, 0, 0, 0, 0,    0,    0,    0x80, 0x20, 1,   0xd,  0xb8, 0,    1,    0,
    0, 0, 0, 0, 0,    0,    0,    0,    0x10, 0,   0x51, 0x9c, 0x40, 1,    2,
    3, 4, 0, 0, 0,    0,    0x50, 4,    0,    0,   0xb3, 0x46, 0,    0};

constexpr MacAddress kOwnMac = {{2, 0, 0, 0, 0, 1}};

ResetBytes reset_of(const ResetBytes& bytes, const TcpReset& reset = {.source_mac = kOwnMac}) {
  const TestFrame frame(bytes);
  ParsedPacket parsed;
  const ParseVerdict verdict = parse(frame.packet, parsed);
  EXPECT_TRUE(verdict == ParseVerdict::kOk || verdict == ParseVerdict::kFragment);
  ResetBytes room(kTcpResetBytesMax);
  room.resize(make_tcp_reset(frame.packet, parsed, reset, room));
  return room;
}

ResetBytes with_byte(ResetBytes bytes, size_t at, uint8_t value) {
  bytes[at] = value;
  return bytes;
}

TEST(tcp_reset, is_as_another_program_makes_it) {
  const TcpReset tagged = {
      .source_mac = kOwnMac,
      .vlan = {.count = 1, .tags = {{{.protocol_identifier = 0x8100, .control = 7}}}}};
  EXPECT_EQ(reset_of(kSyn, tagged), kResetOfSyn);
  EXPECT_EQ(reset_of(kData6), kResetOfData6);
}

TEST(tcp_reset, is_not_sent_to_what_no_honest_sender_waits_for) {
  EXPECT_EQ(reset_of(with_byte(kSyn, 55, 'x')).size(), 0U) << "a wrong checksum";
  EXPECT_EQ(reset_of(with_byte(kSyn, 0, 3)).size(), 0U) << "to a group's MAC";
  EXPECT_EQ(reset_of(with_byte(with_byte(kData6, 54 + 13, 4), 54 + 17, 0xdb)).size(), 0U)
      << "a reset";
}

// Its payload stands elsewhere, and is not read.
TEST(tcp_reset, of_a_segment_in_several_buffers_is_sent) {
  const TestFrame frame(kSyn, {.headroom = 0, .contiguous_bytes = 54});
  ParsedPacket parsed;
  ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
  ResetBytes room(kTcpResetBytesMax);
  EXPECT_EQ(make_tcp_reset(frame.packet, parsed, {.source_mac = kOwnMac}, room), 54U);
}

}  // namespace
}  // namespace roost::net

// Packets that are cut, put together again as their receiver does.
#include "roost/net/fragment.h"

#include <gtest/gtest.h>

#include "roost/net/byte_order.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

constexpr uint64_t kFragmentSeed = 20'261'121;

// The pieces of a packet as frames.
std::vector<Bytes> cut(const Packet& packet, const ParsedPacket& parsed, uint16_t mtu) {
  std::vector<Bytes> frames;
  for (Piece piece = piece_at(packet, parsed, 0, mtu); piece.bytes != 0;
       piece = piece_at(packet, parsed, piece.offset + piece.bytes, mtu)) {
    frames.emplace_back(frame_bytes_of(parsed, piece));
    write_piece(packet, parsed, piece, frames.back());
  }
  return frames;
}

struct Reassembled {
  Bytes carried{};
  bool has_end = false;
};

// Written against RFC 791, not against what cuts.
Reassembled reassemble(const std::vector<Bytes>& frames, size_t ip_offset, size_t mtu) {
  Reassembled whole;
  for (const Bytes& frame : frames) {
    const uint8_t* ip = &frame[ip_offset];
    const size_t header_bytes = size_t{4} * (ip[0] & 15);
    EXPECT_EQ(naive_checksum({ip, header_bytes}), 0);
    EXPECT_EQ(ip_offset + load_be16(ip + 2), frame.size());
    EXPECT_LE(load_be16(ip + 2), mtu);
    const uint16_t field = load_be16(ip + 6);
    EXPECT_EQ(size_t{8} * (field & 0x1fff), whole.carried.size());
    EXPECT_FALSE(whole.has_end) << "something behind the last piece";
    whole.has_end = (field & 0x2000) == 0;
    whole.carried.insert(whole.carried.end(), ip + header_bytes, &frame.back() + 1);
  }
  return whole;
}

TEST(Fragment, pieces_of_any_packet_make_it_whole_again) {
  std::mt19937_64 random(kFragmentSeed);
  int cut_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    TestFrame frame(random_frame(random));
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    if (!may_be_cut(frame.packet, parsed)) continue;
    const auto mtu = static_cast<uint16_t>(68 + random() % 400);
    const Bytes before = frame.bytes();
    const std::vector<Bytes> frames = cut(frame.packet, parsed, mtu);
    ASSERT_EQ(frame.bytes(), before);
    const Reassembled whole = reassemble(frames, parsed.ip_offset, mtu);
    EXPECT_TRUE(whole.has_end);
    const Bytes carried(before.begin() + parsed.l4_offset,
                        before.begin() + parsed.ip_offset + parsed.ip_bytes);
    EXPECT_EQ(whole.carried, carried);
    cut_count += frames.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(cut_count, 1'000);
}

// A fragment that is cut: the first piece keeps its place, and none is the last.
TEST(Fragment, pieces_of_a_fragment_are_fragments_of_its_datagram) {
  std::mt19937_64 random(kFragmentSeed);
  TestFrame frame(random_frame(random));
  ParsedPacket parsed;
  while (parse(frame.packet, parsed) != ParseVerdict::kOk || parsed.ip_bytes < 200 ||
         !may_be_cut(frame.packet, parsed)) {
    frame = TestFrame(random_frame(random));
  }
  parsed.fragment = {.id = 1, .offset = 800, .bytes = parsed.l4_bytes, .is_last = false};
  const std::vector<Bytes> frames = cut(frame.packet, parsed, 128);
  ASSERT_GT(frames.size(), 1U);
  EXPECT_EQ(load_be16(&frames[0][parsed.ip_offset + 6U]), 0x2000 | 100);
  for (const Bytes& piece : frames) EXPECT_NE(piece[parsed.ip_offset + 6U] & 0x20, 0);
}

TEST(Fragment, only_ipv4_that_allows_it_is_cut) {
  std::mt19937_64 random(kFragmentSeed);
  for (int i = 0; i < 1'000; ++i) {
    TestFrame frame(random_frame(random));
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    const bool has_dont_fragment = (frame.packet.data[parsed.ip_offset + 6U] & 0x40) != 0;
    EXPECT_EQ(may_be_cut(frame.packet, parsed), !parsed.is_ipv6 && !has_dont_fragment);
  }
}

}  // namespace
}  // namespace roost::net

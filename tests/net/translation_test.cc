// Packets and ICMP errors of any shape between the IP versions; what single ones become, byte by
// byte, is in the fixtures.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "roost/net/byte_order.h"
#include "roost/net/fragment.h"
#include "roost/net/ip_translation.h"
#include "tests/base/step_count.h"
#include "tests/net/icmp_check.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"
#include "tests/net/translation_check.h"

namespace roost::net {
namespace {

constexpr uint64_t kTranslationSeed = 20'261'127;

TEST(Translation, of_random_packets_keeps_what_they_carry_there_and_back) {
  std::mt19937_64 random(kTranslationSeed);
  uint64_t translated = 0;
  for (uint64_t i = 0; i < step_count(20'000); ++i) {
    const Bytes frame = random_frame(random);
    translated += check_translation(frame, 0, random() % 2 == 0) ? 1U : 0U;
  }
  EXPECT_GT(translated, step_count(15'000));
}

TEST(Translation, of_damaged_frames_is_refused_or_right) {
  std::mt19937_64 random(kTranslationSeed + 1);
  uint64_t translated = 0;
  for (uint64_t i = 0; i < step_count(50'000); ++i) {
    Bytes frame = random() % 2 == 0 ? random_frame(random) : random_icmp_error(random);
    for (size_t n = random() % 4; n > 0; --n) {
      frame[random() % frame.size()] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 8 == 0) frame.resize(random() % frame.size());
    const auto cut_bytes = static_cast<uint8_t>(random() % 8 == 0 ? random() : 0);
    translated += check_translation(frame, cut_bytes, random() % 2 == 0) ? 1U : 0U;
  }
  EXPECT_GT(translated, step_count(10'000));
}

TEST(Translation, of_random_errors_is_an_error_about_the_same_ports) {
  std::mt19937_64 random(kTranslationSeed + 2);
  uint64_t translated = 0;
  for (uint64_t i = 0; i < step_count(20'000); ++i) {
    translated += check_translation(random_icmp_error(random), 0, false) ? 1U : 0U;
  }
  EXPECT_GT(translated, step_count(10'000));
}

TEST(Translation, of_a_last_fragment_needs_no_whole_header) {
  Bytes fragment = {0,    0x64, 0, 0,    0,   1,  2,    0,    0,  0,  1,    0x10, 8, 0,  // Ethernet
                    0x45, 0,    0, 0x1f, 0,   7,  0x1f, 0xfc, 64, 17, 0x6e, 0x3d,        // IPv4
                    192,  0,    2, 10,   198, 51, 100,  80};
  fragment.resize(fragment.size() + 11);
  for (const bool is_to_be_cut : {false, true}) {
    EXPECT_TRUE(check_translation(fragment, 10, is_to_be_cut));
  }
}

// What may be cut in IPv4 is cut in IPv6, and its receiver puts it together.
TEST(Translation, pieces_of_a_translated_packet_make_it_whole_again) {
  constexpr uint16_t kMtu = 1'280;
  constexpr size_t kHeaders = ipv6::kHeaderBytes + ipv6::kExtensionBytesMin;
  std::mt19937_64 random(kTranslationSeed + 3);
  for (int i = 0; i < 200; ++i) {
    const size_t payload_bytes = 1'300 + random() % 3'000;
    Bytes frame = {2,    0, 0, 0,  0,  1, 2, 0,  0, 0, 1,  0x10, 8, 0, 0x45, 0, 0,  0, 0x12,
                   0x34, 0, 0, 64, 17, 0, 0, 10, 0, 0, 11, 10,   0, 0, 100,  0, 53, 4, 0};
    store_be16(&frame[16], static_cast<uint16_t>(28 + payload_bytes));
    frame.resize(14 + 28 + payload_bytes);
    store_be16(&frame[38], static_cast<uint16_t>(8 + payload_bytes));
    store_be16(&frame[40], 0x5555);
    for (size_t at = 42; at < frame.size(); ++at) frame[at] = static_cast<uint8_t>(random());
    store_be16(&frame[24], naive_checksum(std::span(frame).subspan(14, 20)));
    TestFrame test(frame, {.headroom = 28, .contiguous_bytes = {}});
    ParsedPacket parsed;
    ASSERT_EQ(parse(test.packet, parsed), ParseVerdict::kOk);
    translate_to_ipv6(test.packet, parsed, true);
    Bytes carried;
    bool has_end = false;
    for (Piece piece = piece_at(test.packet, parsed, 0, kMtu); piece.bytes != 0;
         piece = piece_at(test.packet, parsed, piece.offset + piece.bytes, kMtu)) {
      Bytes bytes(frame_bytes_of(parsed, piece));
      write_piece(test.packet, parsed, piece, bytes);
      TestFrame one(bytes);
      ParsedPacket fragment;
      ASSERT_EQ(parse(one.packet, fragment), ParseVerdict::kFragment);
      EXPECT_LE(fragment.ip_bytes, kMtu);
      EXPECT_EQ(fragment.fragment.id, 0x1234U);
      EXPECT_EQ(fragment.fragment.offset, carried.size());
      EXPECT_FALSE(has_end);
      has_end = fragment.fragment.is_last;
      carried.insert(carried.end(), bytes.begin() + 14 + kHeaders, bytes.end());
    }
    EXPECT_TRUE(has_end);
    EXPECT_TRUE(std::equal(carried.begin(), carried.end(), frame.begin() + 34, frame.end()));
  }
}

}  // namespace
}  // namespace roost::net

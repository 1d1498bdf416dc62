// The parser over generated frames: random bytes, and valid frames cut and damaged everywhere. What
// it says of each kind of frame is in the fixtures.
#include "roost/net/parse.h"

#include <gtest/gtest.h>

#include <set>

#include "roost/net/l4_checksum.h"
#include "tests/base/step_count.h"
#include "tests/net/frame_check.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

TEST(Parse, a_valid_frame_of_any_shape_is_ok_and_its_checksum_right) {
  std::mt19937_64 random(31);
  for (size_t round = 0; round < step_count(20'000); ++round) {
    const TestFrame frame(random_frame(random));
    ParsedPacket parsed;
    ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk) << "round " << round;
    ASSERT_EQ(verify_l4_checksum(frame.packet, parsed), L4ChecksumVerdict::kRight)
        << "round " << round;
  }
}

TEST(Parse, a_frame_cut_anywhere_in_its_packet_is_truncated) {
  std::mt19937_64 random(32);
  for (size_t round = 0; round < 300; ++round) {
    const std::vector<uint8_t> bytes = random_frame(random);
    ParsedPacket parsed;
    ASSERT_EQ(parse(TestFrame(bytes).packet, parsed), ParseVerdict::kOk);
    const size_t packet_end = parsed.ip_offset + parsed.ip_bytes;
    for (size_t cut = 0; cut < packet_end; ++cut) {
      const TestFrame frame(std::span<const uint8_t>(bytes).first(cut));
      ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kTruncated)
          << "round " << round << " cut " << cut;
    }
  }
}

TEST(Parse, only_headers_must_be_in_the_first_segment) {
  std::mt19937_64 random(33);
  for (size_t round = 0; round < 300; ++round) {
    const std::vector<uint8_t> bytes = random_frame(random);
    ParsedPacket whole;
    ASSERT_EQ(parse(TestFrame(bytes).packet, whole), ParseVerdict::kOk);
    const size_t l4_header =
        whole.protocol == IpProtocol::kTcp ? tcp::kHeaderBytesMin : udp::kHeaderBytes;
    for (uint32_t segment = 0; segment <= bytes.size(); ++segment) {
      const TestFrame frame(bytes, {.headroom = 0, .contiguous_bytes = segment});
      ParsedPacket parsed;
      const ParseVerdict verdict = parse(frame.packet, parsed);
      if (segment < whole.l4_offset + l4_header) {
        ASSERT_EQ(verdict, ParseVerdict::kSplitHeaders)
            << "round " << round << " segment " << segment;
      } else {
        ASSERT_EQ(verdict, ParseVerdict::kOk) << "round " << round << " segment " << segment;
        ASSERT_EQ(parsed, whole);
        const bool is_whole = segment >= whole.l4_offset + whole.l4_bytes;
        if (!is_whole &&
            verify_l4_checksum(TestFrame(bytes).packet, whole) == L4ChecksumVerdict::kRight) {
          ASSERT_NE(verify_l4_checksum(frame.packet, parsed), L4ChecksumVerdict::kWrong);
        }
      }
    }
  }
}

FrameChoices random_choices(std::mt19937_64& random) {
  return {.cut_bytes = static_cast<uint8_t>(random() % 4 == 0 ? random() % 256 : 0),
          .vlan_count = static_cast<uint8_t>(random() % 3),
          .rewrites_source = (random() & 1) != 0};
}

TEST(Parse, random_bytes_never_break_an_invariant) {
  std::mt19937_64 random(34);
  for (size_t round = 0; round < step_count(100'000); ++round) {
    std::vector<uint8_t> bytes(random() % 120);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (bytes.size() > 14) {  // else hardly any would be IP
      bytes[12] = (round & 1) != 0 ? 0x08 : 0x86;
      bytes[13] = (round & 1) != 0 ? 0x00 : 0xdd;
      bytes[14] = (round & 1) != 0 ? 0x45 : 0x60;
    }
    check_frame(bytes, random_choices(random));
  }
}

TEST(Parse, a_damaged_frame_never_breaks_an_invariant) {
  std::mt19937_64 random(35);
  size_t ok_count = 0;
  constexpr uint64_t kRounds = step_count(50'000);
  for (size_t round = 0; round < kRounds; ++round) {
    std::vector<uint8_t> bytes = random_frame(random);
    for (size_t damage = random() % 4; damage > 0; --damage) {
      bytes[random() % std::min<size_t>(bytes.size(), 100)] = static_cast<uint8_t>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    if (check_frame(bytes, random_choices(random))) ++ok_count;
  }
  EXPECT_GT(ok_count, kRounds / 4) << "too few frames reached the rewrites";
}

TEST(Parse, each_verdict_has_its_own_name) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kParseVerdictCount; ++i) {
    names.insert(parse_verdict_name(static_cast<ParseVerdict>(i)));
  }
  EXPECT_EQ(names.size(), kParseVerdictCount);
}

}  // namespace
}  // namespace roost::net

// ICMP errors: translated and made as the model does, and what the rules say about single ones.
#include <gtest/gtest.h>

#include "roost/net/byte_order.h"
#include "roost/net/icmp_answer.h"
#include "roost/net/icmp_error.h"
#include "tests/base/step_count.h"
#include "tests/net/icmp_check.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

constexpr uint64_t kIcmpSeed = 20'261'121;

TEST(icmp, random_errors_are_translated_as_by_computing_every_checksum_anew) {
  std::mt19937_64 random(kIcmpSeed);
  for (uint64_t i = 0; i < step_count(20'000); ++i) {
    const Bytes frame = random_icmp_error(random);
    const IcmpChoices choices = {.rewrites_source = random() % 2 == 0};
    ASSERT_TRUE(check_icmp(frame, choices).is_error);
  }
}

TEST(icmp, damaged_errors_are_refused_or_translated_right) {
  std::mt19937_64 random(kIcmpSeed + 1);
  uint64_t translated = 0;
  for (uint64_t i = 0; i < step_count(50'000); ++i) {
    Bytes frame = random_icmp_error(random);
    for (size_t n = random() % 4; n > 0; --n) {
      frame[random() % frame.size()] ^= static_cast<uint8_t>(1U << random() % 8);
    }
    if (random() % 8 == 0) frame.resize(random() % frame.size());
    const IcmpChoices choices = {
        .cut_bytes = static_cast<uint8_t>(random() % 8 == 0 ? random() : 0),
        .rewrites_source = random() % 2 == 0};
    translated += check_icmp(frame, choices).is_error ? 1U : 0U;
  }
  EXPECT_GT(translated, step_count(10'000));
}

TEST(icmp, random_packets_are_answered_by_the_rules) {
  std::mt19937_64 random(kIcmpSeed + 2);
  uint64_t answered = 0;
  for (uint64_t i = 0; i < step_count(20'000); ++i) {
    Bytes frame = random_frame(random);
    if (random() % 2 == 0) frame[0] &= 0xfe;
    const IcmpChoices choices = {.is_too_big = random() % 2 == 0};
    answered += check_icmp(frame, choices).is_answered ? 1U : 0U;
  }
  EXPECT_GT(answered, step_count(5'000));
  EXPECT_LT(answered, step_count(19'000));
}

// An unreachable port, as Linux reports it: 192.0.2.10 has no socket for what 198.51.100.53 sent.
const Bytes kPortUnreachable = {
    2,    0,    0,    0,    0,    1,    2,    0,   0,  0,  1,    0x10, 8, 0,  // Ethernet
    0x45, 0xc0, 0,    56,   0x12, 0x34, 0,    0,   64, 1,  0x78, 0x02,        // IPv4
    192,  0,    2,    10,   198,  51,   100,  53,                             //
    3,    3,    0x1f, 0x2c, 0,    0,    0,    0,                              // ICMP
    0x45, 0,    0,    33,   0,    7,    0x40, 0,   63, 17, 0x4f, 0x37,        // IPv4
    198,  51,   100,  53,   192,  0,    2,    10,                             //
    0,    53,   0x9c, 0x41, 0,    13,   0xb2, 0x70};                          // UDP

Bytes with_right_sums(Bytes frame) {
  store_be16(&frame[24], 0);
  store_be16(&frame[24], naive_checksum(std::span(frame).subspan(14, 20)));
  store_be16(&frame[36], 0);
  store_be16(&frame[36], naive_checksum(std::span(frame).subspan(34)));
  return frame;
}

IcmpVerdict verdict_of(const Bytes& bytes, IcmpError& error) {
  TestFrame frame(bytes);
  ParsedPacket parsed;
  EXPECT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
  return parse_icmp_error(frame.packet, parsed, error);
}

TEST(icmp, an_error_names_the_flow_of_the_packet_it_embeds) {
  IcmpError error;
  const Bytes bytes = with_right_sums(kPortUnreachable);
  ASSERT_EQ(verdict_of(bytes, error), IcmpVerdict::kError);
  TestFrame frame(bytes);
  const auto key = embedded_key<FlowKey4>(frame.packet, error);
  EXPECT_EQ(key.source, (Ipv4Address{{198, 51, 100, 53}}));
  EXPECT_EQ(key.destination, (Ipv4Address{{192, 0, 2, 10}}));
  EXPECT_EQ(key.source_port, 53);
  EXPECT_EQ(key.destination_port, 40'001);
  EXPECT_EQ(key.protocol, IpProtocol::kUdp);
}

TEST(icmp, what_is_no_error_about_a_flow_says_why) {
  const auto changed = [](size_t at, uint8_t value) {
    Bytes frame = kPortUnreachable;
    frame[at] = value;
    return with_right_sums(frame);
  };
  IcmpError error;
  EXPECT_EQ(verdict_of(changed(34, 8), error), IcmpVerdict::kNotError) << "echo";
  EXPECT_EQ(verdict_of(changed(34, 5), error), IcmpVerdict::kNotError) << "redirect";
  EXPECT_EQ(verdict_of(changed(23, 58), error), IcmpVerdict::kNotIcmp);
  EXPECT_EQ(verdict_of(changed(42, 0x55), error), IcmpVerdict::kBadEmbedded) << "version";
  EXPECT_EQ(verdict_of(changed(42, 0x44), error), IcmpVerdict::kBadEmbedded) << "header length";
  EXPECT_EQ(verdict_of(changed(49, 1), error), IcmpVerdict::kLaterFragment);
  EXPECT_EQ(verdict_of(changed(51, 50), error), IcmpVerdict::kOtherProtocol);
  EXPECT_EQ(verdict_of(changed(42, 0x46), error), IcmpVerdict::kTruncated) << "options";
  Bytes wrong = with_right_sums(kPortUnreachable);
  wrong.back() ^= 1;
  EXPECT_EQ(verdict_of(wrong, error), IcmpVerdict::kBadChecksum);
}

// Errors about errors would never end.
TEST(icmp, no_error_is_answered) {
  const Bytes bytes = with_right_sums(kPortUnreachable);
  TestFrame frame(bytes);
  ParsedPacket parsed;
  ASSERT_EQ(parse(frame.packet, parsed), ParseVerdict::kUnsupportedProtocol);
  Bytes room(kIcmpAnswerBytesMax);
  EXPECT_EQ(make_icmp_answer(frame.packet, parsed, {.source = Ipv4Address{{192, 0, 2, 1}}}, room),
            0U);
}

}  // namespace
}  // namespace roost::net

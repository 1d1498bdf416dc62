// The internet checksum against the worked examples of the RFCs and against the slow way.
#include "roost/net/checksum.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/net/random_frame.h"

namespace roost::net {
namespace {

TEST(Checksum, the_sum_of_rfc_1071_section_3) {
  const std::array<uint8_t, 8> bytes = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(fold_sum(sum_words(bytes)), 0xddf2);
  EXPECT_EQ(checksum_of(sum_words(bytes)), 0x220d);
}

// RFC 1624 section 4: where equation 2 of RFC 1141 gives 0xffff, the right answer is 0x0000.
TEST(Checksum, the_update_of_rfc_1624_section_4) {
  ChecksumChange change;
  change.change16(0x5555, 0x3285);
  EXPECT_EQ(change.apply(0xdd2f), 0x0000);
}

TEST(Checksum, every_length_sums_as_the_slow_way_does) {
  std::mt19937_64 random(21);
  std::vector<uint8_t> bytes;
  for (size_t length = 0; length < 200; ++length) {
    EXPECT_EQ(checksum_of(sum_words(bytes)), naive_checksum(bytes)) << length;
    bytes.push_back(static_cast<uint8_t>(random()));
  }
  const std::vector<uint8_t> ones(70'000, 0xff);
  EXPECT_EQ(checksum_of(sum_words(ones)), naive_checksum(ones));
}

TEST(Checksum, no_carry_is_lost_at_the_largest_sums) {
  EXPECT_EQ(fold_sum(0xffffffffffffffff), 0xffff);
  EXPECT_EQ(fold_sum(0xfffffffffffffffe), 0xfffe);
  EXPECT_EQ(fold_sum(0x1ffff), 0x0001);
  EXPECT_EQ(fold_sum(0x1fffe), 0xffff);
  EXPECT_EQ(fold_sum(0), 0);
}

TEST(Checksum, an_update_equals_a_recomputation) {
  std::mt19937_64 random(22);
  for (size_t round = 0; round < 20'000; ++round) {
    std::array<uint8_t, 40> bytes{};
    // Half of the words are near the ends of the range, where carries and the two zeros are.
    for (size_t at = 0; at < bytes.size(); at += 2) {
      const uint64_t number = random();
      const uint16_t edge = static_cast<uint16_t>((number & 1) - ((number >> 1) & 1));
      store_be16(&bytes[at], (number & 4) != 0 ? edge : static_cast<uint16_t>(number >> 16));
    }
    if (naive_checksum(bytes) == 0xffff) continue;  // all zero: no header is
    const std::array<uint8_t, 40> before = bytes;
    const uint16_t checksum_before = naive_checksum(before);
    for (size_t at = 2; at < 24; ++at) bytes[at] = static_cast<uint8_t>(random());
    if (naive_checksum(bytes) == 0xffff) continue;

    ChecksumChange change;
    change.change16(load_be16(&before[2]), load_be16(&bytes[2]));
    change.change32(load_be32(&before[4]), load_be32(&bytes[4]));
    Ipv6Address address_before;
    Ipv6Address address_after;
    std::copy_n(&before[8], 16, address_before.bytes.begin());
    std::copy_n(&bytes[8], 16, address_after.bytes.begin());
    change.change(address_before, address_after);
    ASSERT_EQ(change.apply(checksum_before), naive_checksum(bytes)) << "round " << round;
  }
}

TEST(Checksum, udp_zero_means_none_and_is_never_computed) {
  ChecksumChange change;
  change.change16(0x5555, 0x3285);
  EXPECT_EQ(change.apply_udp(0xdd2f), 0xffff);
  EXPECT_EQ(change.apply_udp(0x0000), 0x0000);
  EXPECT_EQ(udp_checksum_of(0xffff), 0xffff);
  EXPECT_EQ(udp_checksum_of(0x1234), 0xedcb);
}

}  // namespace
}  // namespace roost::net

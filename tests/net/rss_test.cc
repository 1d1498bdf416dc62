// Against the vectors that card makers verify their hashes with; tests/io compares with DPDK's.
#include "roost/net/rss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "roost/net/address.h"

namespace roost::net {
namespace {

// "Verifying the RSS hash calculation", Microsoft's specification of receive side scaling.
constexpr std::array<uint8_t, 40> kVerificationKey = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

struct Vector {
  const char* source;
  const char* destination;
  uint32_t hash;
};

TEST(ToeplitzHash, is_the_one_that_card_makers_verify) {
  RssKey key{};
  std::ranges::copy(kVerificationKey, key.begin());
  const ToeplitzHash hash(key);
  for (const Vector& vector : std::vector<Vector>{
           {"66.9.149.187", "161.142.100.80", 0x323e8fc2},
           {"199.92.111.2", "65.69.140.83", 0xd718262a},
           {"24.19.198.95", "12.22.207.184", 0xd2d0a5de},
           {"38.27.205.30", "209.142.163.6", 0x82989176},
           {"153.39.163.191", "202.188.127.2", 0x5d1809c5},
       }) {
    std::array<uint8_t, 8> both{};
    std::ranges::copy(Ipv4Address::parse(vector.source).value().bytes, both.begin());
    std::ranges::copy(Ipv4Address::parse(vector.destination).value().bytes, both.begin() + 4);
    EXPECT_EQ(hash.hash(both), vector.hash) << vector.source;
  }
}

TEST(RssWorker, longer_tables_repeat_the_least_one_and_every_worker_has_its_share) {
  std::array<size_t, 3> entries{};
  for (size_t entry = 0; entry < kRssEntries; ++entry) ++entries[rss_worker(entry, 3)];
  EXPECT_EQ(entries, (std::array<size_t, 3>{43, 43, 42}));
  for (size_t entry = 0; entry < 512; ++entry)
    EXPECT_EQ(rss_worker(entry, 3), rss_worker(entry % kRssEntries, 3));
}

}  // namespace
}  // namespace roost::net

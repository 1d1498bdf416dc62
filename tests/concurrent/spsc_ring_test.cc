// The ring: what goes in comes out, whole and in order, and neither side ever has a record that the
// other one has. Under the thread sanitizer the last test also says that nothing is touched by two.
#include "roost/concurrent/spsc_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <thread>

namespace roost {
namespace {

TEST(SpscRing, holds_as_many_as_it_says_and_no_more) {
  SpscRing<int> ring(3);
  EXPECT_EQ(ring.front(), nullptr);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) {
      int* record = ring.claim();
      ASSERT_NE(record, nullptr);
      EXPECT_EQ(ring.claim(), record);  // the same one until it is published
      *record = 10 * round + i;
      ring.publish();
    }
    EXPECT_EQ(ring.claim(), nullptr);
    for (int i = 0; i < 3; ++i) {
      ASSERT_NE(ring.front(), nullptr);
      EXPECT_EQ(*ring.front(), 10 * round + i);
      ring.release();
    }
    EXPECT_EQ(ring.front(), nullptr);
  }
}

TEST(SpscRing, a_claimed_record_is_nobodys_until_it_is_published) {
  SpscRing<int> ring(2);
  *ring.claim() = 7;
  EXPECT_EQ(ring.front(), nullptr);
}

// A record of many words, all the same: a torn one shows.
using Record = std::array<uint64_t, 16>;

TEST(SpscRing, two_threads_see_every_record_once_and_whole) {
  constexpr uint64_t kCount = 5'000;
  for (const uint64_t seed : {1U, 2U, 3U}) {
    std::mt19937_64 random(seed);
    SpscRing<Record> ring(1 + random() % 64);
    std::thread writer([&ring] {
      for (uint64_t i = 0; i < kCount;) {
        Record* record = ring.claim();
        if (record == nullptr) {
          std::this_thread::yield();
          continue;
        }
        record->fill(i++);
        ring.publish();
      }
    });
    for (uint64_t i = 0; i < kCount;) {
      const Record* record = ring.front();
      if (record == nullptr) {
        std::this_thread::yield();
        continue;
      }
      for (const uint64_t word : *record) ASSERT_EQ(word, i);
      ++i;
      ring.release();
    }
    writer.join();
    EXPECT_EQ(ring.front(), nullptr);
  }
}

}  // namespace
}  // namespace roost

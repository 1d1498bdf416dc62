// The fixed hash of names, against values from outside: it must never change.
#include "roost/balance/name_hash.h"

#include <gtest/gtest.h>

namespace roost::balance {
namespace {

// Test vectors of draft-eastlake-fnv.
TEST(NameHash, fnv1a64_gives_the_published_values) {
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8u);
}

// The first numbers of seed 1234567 as other implementations of SplitMix64 publish them.
TEST(NameHash, splitmix64_gives_the_published_sequence) {
  uint64_t state = 1'234'567;
  EXPECT_EQ(splitmix64_next(state), 6457827717110365317u);
  EXPECT_EQ(splitmix64_next(state), 3203168211198807973u);
  EXPECT_EQ(splitmix64_next(state), 9817491932198370423u);
}

TEST(NameHash, name_and_seed_each_change_both_numbers) {
  const NameHash hash = name_hash("b1", 1);
  const NameHash other_name = name_hash("b2", 1);
  const NameHash other_seed = name_hash("b1", 2);
  EXPECT_NE(hash.first, other_name.first);
  EXPECT_NE(hash.second, other_name.second);
  EXPECT_NE(hash.first, other_seed.first);
  EXPECT_NE(hash.second, other_seed.second);
  EXPECT_NE(hash.first, hash.second);
}

}  // namespace
}  // namespace roost::balance

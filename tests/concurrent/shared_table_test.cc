// A shared table's face: who may write when, what readers see then, walks, and bad configurations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "roost/concurrent/shared_table.h"
#include "tests/concurrent/shared_kinds.h"

namespace roost {
namespace {

TEST(SharedTable, refuses_a_number_of_counters_that_is_no_power_of_two) {
  const auto table = SharedTable<Mac, uint16_t>::create({.capacity = 64, .version_counters = 3});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message,
            "3 version counters are no power of two; leave it at 8192, or take 1, 2, 4 ...");
}

TEST(SharedTable, has_one_writer_at_a_time_and_readers_see_what_it_did) {
  using Fib = SharedTable<Mac, uint16_t>;
  Fib fib = Fib::create({.entries_max = 1'000}).value();
  const Fib::Reader reader = fib.reader();
  const std::array<Mac, 2> keys = {Mac::of(1), Mac::of(2)};
  std::array<uint16_t, 2> ports{};
  HitArray<2> hits;
  {
    auto writer = fib.try_write();
    ASSERT_TRUE(writer);
    EXPECT_FALSE(fib.try_write()) << "one at a time";
    EXPECT_EQ((*writer)->insert(keys[0], 7), InsertOutcome::kInserted);
    EXPECT_EQ(reader.lookup(std::span<const Mac>(keys), std::span<uint16_t>(ports), hits), 1U);
  }
  ASSERT_TRUE(fib.try_write());
  EXPECT_EQ(ports[0], 7);
  EXPECT_FALSE(hits.test(1));
  auto flight = reader.start(std::span<const Mac>(keys));
  EXPECT_EQ(fib.write()->erase(keys[0]), true);
  EXPECT_EQ(reader.lookup(flight, std::span<uint16_t>(ports), hits), 0U)
      << "what was started is answered as the table is";
}

TEST(SharedTable, readers_set_bits_of_values_that_are_a_hint) {
  using Kind = HintedKind<DefaultPolicies>;
  Kind::Table fib = Kind::Table::create({.entries_max = 1'000}).value();
  const Kind::Table::Reader reader = fib.reader();
  const std::array<Mac, 2> keys = {Mac::of(1), Mac::of(2)};
  std::array<uint16_t, 2> ports{};
  HitArray<2> hits;
  ASSERT_EQ(fib.write()->insert(keys[0], 0x0007), InsertOutcome::kInserted);
  EXPECT_EQ(reader.lookup_and_set_hint(std::span(keys), 0xFFFF, std::span(ports), hits), 1U);
  EXPECT_EQ(ports[0], 0x0007) << "as it was before";
  EXPECT_EQ(reader.lookup_and_set_hint(std::span(keys), 0, std::span(ports), hits), 1U);
  EXPECT_EQ(ports[0], 0x8007) << "only the bits that are named";
  EXPECT_EQ(reader.lookup(std::span(keys), std::span(ports), hits), 1U);
  EXPECT_EQ(ports[0], 0x0007);
}

// A walk beside a writer on another thread; what it must visit was there before.
template <class Kind>
class SharedWalks : public testing::Test {};
using Kinds = testing::Types<PackedKind<DefaultPolicies>, InlineKind<DefaultPolicies>,
                             SplitKind<DefaultPolicies>>;
TYPED_TEST_SUITE(SharedWalks, Kinds);

TYPED_TEST(SharedWalks, visit_what_stays) {
  using Table = typename TypeParam::Table;
  constexpr uint16_t kStaying = 20'000;
  constexpr uint64_t kKeys = 30'000;
  Table table = Table::create({.entries_max = 25'000}).value();
  for (uint16_t i = 0; i < kStaying; ++i) {
    ASSERT_EQ(table.write()->insert(TypeParam::key(i), TypeParam::value(i + 1)),
              InsertOutcome::kInserted);
  }
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    std::mt19937_64 random(1);
    while (!is_over) {
      const auto writing = table.write();
      const uint64_t number = kStaying + random() % (kKeys - kStaying);
      if (random() % 2 == 0) {
        writing->erase(TypeParam::key(number));
      } else {
        static_cast<void>(writing->insert(TypeParam::key(number), TypeParam::value(0xFFFF)));
      }
    }
  });
  for (unsigned walk = 0; walk < 20; ++walk) {
    std::vector<bool> is_visited(kStaying);
    uint64_t torn = 0;
    table.for_each([&](const auto& /*key*/, const auto& value) {
      const uint16_t code = TypeParam::code(value);
      torn += code == 0 ? 1 : 0;
      if (code != 0 && code <= kStaying) is_visited[code - 1] = true;
    });
    EXPECT_EQ(torn, 0U);
    EXPECT_EQ(std::count(is_visited.begin(), is_visited.end(), false), 0);
  }
  is_over = true;
  writer.join();
  const auto writing = table.write();
  EXPECT_FALSE(writing->audit());
}

TEST(SharedTable, a_walk_goes_on_where_it_stood_and_may_be_left) {
  using Fib = SharedTable<Mac, uint16_t>;
  Fib fib = Fib::create({.entries_max = 1'000}).value();
  for (uint64_t i = 0; i < 100; ++i)
    ASSERT_EQ(fib.write()->insert(Mac::of(i), static_cast<uint16_t>(i)), InsertOutcome::kInserted);
  std::set<uint16_t> ports;
  unsigned steps = 1;
  auto walk = fib.walk();
  const auto collect = [&ports](const Mac& mac, uint16_t port) {
    EXPECT_EQ(mac.bytes[5], port);
    EXPECT_TRUE(ports.insert(port).second);
  };
  while (walk.visit(10, collect)) ++steps;
  EXPECT_EQ(ports.size(), 100U);
  EXPECT_EQ(steps, (fib.table().bucket_count() + 9) / 10);
  EXPECT_FALSE(walk.visit(10, collect)) << "it is at its end";
  { const auto left = fib.walk(); }
  EXPECT_TRUE(fib.try_write()) << "a walk that was left has given the right to write back";
}

}  // namespace
}  // namespace roost

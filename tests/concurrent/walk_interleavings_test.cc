// A walk over a shared table while the writer moves what is there to and fro: what stays is
// visited, whole. Walker and writer take turns in one thread.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

#include "tests/base/step_count.h"
#include "tests/concurrent/shared_kinds.h"
#include "tests/concurrent/turn_taking.h"

namespace roost {
namespace {

constexpr uint64_t kStaying = 12;
constexpr uint64_t kKeys = 40;

template <class Key>
bool is_same(const Key& one, const Key& other) {
  return std::memcmp(&one, &other, sizeof(Key)) == 0;
}

struct Outcome {
  std::string_view fault;
  uint64_t walks;
};

template <class Kind>
Outcome run(uint64_t seed) {
  using Table = typename Kind::Table;
  Table table =
      Table::create({.entries_max = 30, .hash_seed = seed, .pages = PageKind::kSmall}).value();
  for (uint64_t key = 0; key < kStaying; ++key) {
    EXPECT_EQ(table.write()->insert(Kind::key(key), Kind::value(static_cast<uint16_t>(key + 1))),
              InsertOutcome::kInserted);
  }
  Outcome outcome{};
  bool is_over = false;

  const auto write = [&] {
    std::mt19937_64 random(seed);
    for (unsigned change = 0; change < 2'000; ++change) {
      Fibres::point();
      const typename Table::Writer writer = table.write();
      const uint64_t key = kStaying + random() % (kKeys - kStaying);
      if (random() % 2 == 0) {
        writer->erase(Kind::key(key));
      } else {
        static_cast<void>(
            writer->insert(Kind::key(key), Kind::value(static_cast<uint16_t>(key + 1))));
      }
    }
    is_over = true;
  };
  const auto walk = [&] {
    for (; !is_over && outcome.fault.empty(); ++outcome.walks) {
      std::array<bool, kStaying> is_visited{};
      table.for_each([&](const auto& key, const auto& value) {
        Fibres::point();
        const uint64_t number = Kind::code(value) - 1;
        if (number >= kKeys || !is_same(key, Kind::key(number))) {
          outcome.fault = "torn";
        } else if (number < kStaying) {
          is_visited[number] = true;
        }
      });
      for (const bool is_seen : is_visited) {
        if (!is_seen) outcome.fault = "missed";
      }
    }
  };
  Fibres(seed, 1 + static_cast<unsigned>(seed % 8)).run(write, walk);
  return outcome;
}

template <class Kind>
class WalkInterleavings : public testing::Test {};
using Kinds = testing::Types<PackedKind<TurnTaking>, InlineKind<TurnTaking>, SplitKind<TurnTaking>>;
TYPED_TEST_SUITE(WalkInterleavings, Kinds);

TYPED_TEST(WalkInterleavings, what_stays_is_visited_whole) {
  uint64_t walks = 0;
  for (uint64_t seed = 0; seed < step_count(100); ++seed) {
    const Outcome outcome = run<TypeParam>(seed);
    ASSERT_EQ(outcome.fault, "") << "seed " << seed;
    walks += outcome.walks;
  }
  EXPECT_GT(walks, 1'000U);
}

}  // namespace
}  // namespace roost

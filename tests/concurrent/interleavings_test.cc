// A writer and a reader of a shared table in one thread, which change turns between any two words
// that they store or load.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include "roost/concurrent/shared_table.h"
#include "tests/base/step_count.h"
#include "tests/concurrent/fibres.h"
#include "tests/concurrent/lookup_oracle.h"
#include "tests/table/packed_keys.h"

namespace roost {
namespace {

class TurnTakingAccess : public OneWriterManyReaders {
 public:
  using OneWriterManyReaders::OneWriterManyReaders;

  static void store(uint64_t& word, uint64_t value) {
    Fibres::point();
    OneWriterManyReaders::store(word, value);
    Fibres::point();
  }
  [[nodiscard]] static uint64_t load(const uint64_t& word) {
    Fibres::point(PackedLine::kSlots);
    return OneWriterManyReaders::load(word);
  }
  template <Kernel K>
  [[nodiscard]] static uint8_t match_words(const uint64_t* words, uint64_t word) {
    Fibres::point();
    // What readers are told is a hint: without one they search as they do for what is missing.
    static std::minstd_rand random(1);
    if (!Fibres::is_first() && random() % 2 == 0) return 0;
    return OneWriterManyReaders::match_words<K>(words, word);
  }
};

// A reader that must search again waits for the writer.
struct TurnTakingProbe : NoProbe {
  uint64_t repeats = 0;
  void repeat() {
    ++repeats;
    Fibres::give_up_turn();
  }
};

struct TurnTaking : DefaultPolicies {
  using Access = TurnTakingAccess;
  using Probe = TurnTakingProbe;
};
using Table = SharedTable<Mac, uint16_t, TurnTaking>;

Mac key_of(uint64_t number) { return Mac::of(number * 0x9E3779B97F4A7C15U >> 16); }

struct Outcome {
  std::string_view fault;
  uint64_t repeats;
};

// So many changes, and lookups until they are done.
Outcome run(uint64_t seed, uint64_t version_counters) {
  constexpr uint64_t kKeys = 40;  // of which the table has room for 32, and 16 in the stash
  constexpr size_t kLanes = 4;
  Table table = Table::create({.entries_max = 30,
                               .hash_seed = seed,
                               .pages = PageKind::kSmall,
                               .version_counters = version_counters})
                    .value();
  LookupOracle oracle(kKeys);
  Outcome outcome{};
  bool is_over = false;

  const auto write = [&] {
    std::mt19937_64 random(seed);
    for (unsigned change = 0; change < 3'000; ++change) {
      const Table::Writer writer = table.write();
      const uint64_t number = random() % kKeys;
      if (oracle.is_in(number) && random() % 2 == 0) {
        oracle.begin_erase(number);
        EXPECT_TRUE(writer->erase(key_of(number)));
        oracle.end_erase(number);
      } else {
        const uint16_t value = oracle.begin_insert(number);
        oracle.end_insert(number, writer->insert(key_of(number), value) != InsertOutcome::kFull);
      }
    }
    is_over = true;
  };
  const auto read = [&] {
    auto reader = table.reader();
    std::mt19937_64 random(seed + 1);
    std::array<uint64_t, kLanes> numbers;
    std::array<Mac, kLanes> keys;
    std::array<uint16_t, kLanes> values{};
    std::array<LookupOracle::Before, kLanes> before;
    HitArray<kLanes> hits;
    while (!is_over && outcome.fault.empty()) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        numbers[lane] = random() % kKeys;
        keys[lane] = key_of(numbers[lane]);
        before[lane] = oracle.before(numbers[lane]);
      }
      reader.lookup(std::span<const Mac>(keys), std::span<uint16_t>(values), hits);
      for (size_t lane = 0; lane < kLanes && outcome.fault.empty(); ++lane)
        outcome.fault = oracle.check(numbers[lane], before[lane], hits.test(lane), values[lane]);
    }
    outcome.repeats = reader.core().probe().repeats;
  };
  Fibres(seed, 1 + static_cast<unsigned>(seed % 8)).run(write, read);
  const auto writer = table.write();
  const auto violation = writer->audit();
  EXPECT_FALSE(violation) << violation->what;
  return outcome;
}

class Interleavings : public testing::TestWithParam<uint64_t> {};

TEST_P(Interleavings, answer_what_was_true_at_some_moment_of_the_call) {
  uint64_t repeats = 0;
  for (uint64_t seed = 0; seed < step_count(400); ++seed) {
    const Outcome outcome = run(seed, GetParam());
    ASSERT_EQ(outcome.fault, "") << "seed " << seed;
    repeats += outcome.repeats;
  }
  EXPECT_GT(repeats, 1'000U) << "no reader ever had to search again";
}

INSTANTIATE_TEST_SUITE_P(VersionCounters, Interleavings, testing::Values(1, 2, 8'192));

}  // namespace
}  // namespace roost

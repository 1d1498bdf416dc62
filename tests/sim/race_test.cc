// A writer that moves keys between their buckets all the time, while others are looked up (HALO,
// figure 7): with locks no key is ever missed; without, a lookup that has seen one bucket may find
// the key gone from the other one. And sets of a slice that are full of locked lines.
#include <gtest/gtest.h>

#include <memory>

#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

constexpr uint64_t kStable = 24;  // keys that are moved, and always there

// Moves each key to its other bucket: writes it there, then clears its old slot.
class Mover final : public Program {
 public:
  Mover(const LookupBench& bench, uint64_t moves) : bench_(bench), moves_(moves) {
    for (uint64_t bucket = 0; bucket < bench.metadata.buckets; ++bucket) {
      LineBytes line = const_cast<LookupBench&>(bench).machine.bytes().read_line(
          line_of(bucket_address(bench.metadata, bucket)));
      std::memcpy(buckets_.emplace_back().data(), line.data(), line.size());
    }
  }
  Fetch fetch(Op& op) override {
    if (queue_.empty() && !plan()) return Fetch::kEnd;
    op = queue_.front();
    queue_.erase(queue_.begin());
    return Fetch::kOp;
  }
  void completed(uint32_t /*tag*/, Cycle /*when*/, std::span<const std::byte> /*bytes*/) override {}
  uint64_t moved = 0;
  bool stops = false;

 private:
  bool plan() {
    while (!stops && moved < moves_) {
      const KeyPlaces places = bench_.places(2 * (next_++ % kStable));
      for (const auto& [from, to] : {std::pair{places.primary, places.secondary},
                                     std::pair{places.secondary, places.primary}}) {
        if (move(from, to, static_cast<uint64_t>(places.tag))) return true;
      }
    }
    return false;
  }
  bool move(uint64_t from, uint64_t to, uint64_t tag) {
    for (size_t slot = 0; slot < 8; ++slot) {
      const uint64_t word = buckets_[from][slot];
      if (word == 0 || (word & 0xFFFF) != tag) continue;
      const auto free = std::ranges::find(buckets_[to], uint64_t{0});
      if (free == buckets_[to].end()) return false;
      write(to, static_cast<size_t>(free - buckets_[to].begin()), word);
      write(from, slot, 0);
      ++moved;
      return true;
    }
    return false;
  }
  void write(uint64_t bucket, size_t slot, uint64_t word) {
    buckets_[bucket][slot] = word;
    queue_.push_back({.kind = OpKind::kStore,
                      .address = bucket_address(bench_.metadata, bucket) + 8 * slot,
                      .data = {word, word}});
  }

  const LookupBench& bench_;
  uint64_t moves_;
  uint64_t next_ = 0;
  std::vector<std::array<uint64_t, 8>> buckets_;
  std::vector<Op> queue_;
};

struct Race {
  uint64_t looked_up = 0;
  uint64_t missed = 0;
  uint64_t moved = 0;
  uint64_t refused = 0;
};

class Reader final : public Program {
 public:
  Reader(const LookupBench& bench, uint64_t count, Mover& mover)
      : bench_(bench), count_(count), mover_(mover) {}
  Fetch fetch(Op& op) override {
    if (next_ == count_) return Fetch::kEnd;
    ++next_;
    op = bench_.lookup_b(2 * (traffic::mix(next_) % kStable), static_cast<uint32_t>(next_));
    return Fetch::kOp;
  }
  void completed(uint32_t tag, Cycle /*when*/, std::span<const std::byte> bytes) override {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    ++race.looked_up;
    if (word == kNotFoundWord) ++race.missed;
    EXPECT_TRUE(word == kNotFoundWord || word == found_word(2 * (traffic::mix(tag) % kStable)));
    if (race.looked_up == count_) mover_.stops = true;
  }
  Race race;

 private:
  const LookupBench& bench_;
  uint64_t count_;
  uint64_t next_ = 0;
  Mover& mover_;
};

Race race(const Parameters& parameters) {
  const PaperTable table = paper_table(200, 64);
  LookupBench bench(parameters, image_of(table));
  std::vector<Op> keys;
  for (uint64_t i = 0; i < kStable; ++i) keys.push_back(LookupBench::put_key(2 * i)[0]);
  bench.run(0, keys);
  Mover mover(bench, ~uint64_t{0});
  Reader reader(bench, 6000, mover);
  bench.machine.start(7, mover);
  bench.machine.start(0, reader);
  const Result<Cycle> ended = bench.machine.run(Cycle{50'000'000});
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_EQ(bench.machine.memory().audit(), std::nullopt);
  EXPECT_EQ(audit_table(bench.machine.bytes(), bench.table), std::nullopt);
  Race race = reader.race;
  race.moved = mover.moved;
  race.refused = bench.machine.memory().cache(7).counts().refused;
  return race;
}

TEST(Race, with_locks_no_key_is_missed) {
  for (const bool by_filter : {false, true}) {
    Parameters parameters = default_parameters();
    parameters.lookup_b = LookupBChoice::kLoad;
    if (by_filter) parameters.filter = FilterChoice::kOn;  // the second bucket is locked later
    const Race race = sim::race(parameters);
    EXPECT_EQ(race.looked_up, 6000U);
    EXPECT_EQ(race.missed, 0U);
    EXPECT_GT(race.moved, 100U);
    EXPECT_GT(race.refused, 100U);
  }
}

TEST(Race, figure_7_without_locks_keys_are_missed) {
  Parameters parameters = default_parameters();
  parameters.lookup_b = LookupBChoice::kLoad;
  parameters.locks = LocksChoice::kOff;
  const Race race = sim::race(parameters);
  EXPECT_GT(race.missed, 10U);
  EXPECT_LT(race.missed, race.looked_up / 2);
  EXPECT_EQ(race.refused, 0U);
  RecordProperty("missed", static_cast<int>(race.missed));
}

// One slice with one set of 16 lines, and ten queries that lock three lines each.
TEST(Race, lookups_end_though_every_way_of_every_set_is_locked) {
  for (const LlcPolicy policy : {LlcPolicy::kVictim, LlcPolicy::kInclusive}) {
    Parameters parameters = default_parameters();
    parameters.mesh_columns = parameters.mesh_rows = 1;
    parameters.llc_slice_bytes = 1024;
    parameters.llc = policy;
    parameters.lookup_b = LookupBChoice::kLoad;
    const PaperTable table = paper_table(1000, 256);
    LookupBench bench(parameters, image_of(table));
    std::vector<Op> ops;
    constexpr uint64_t kLookups = 400;
    for (uint64_t i = 0; i < kLookups; ++i) {
      bench.run(0, LookupBench::put_key(i));
      ops.push_back(bench.lookup_b(i, static_cast<uint32_t>(i + 1)));
    }
    const Script script = bench.run(0, ops);
    for (uint64_t i = 0; i < kLookups; ++i)
      EXPECT_EQ(script.of(static_cast<uint32_t>(i + 1)).word,
                i % 2 == 0 ? found_word(i) : kNotFoundWord);
    // A lookup alone takes at most eight accesses to DRAM, one after the other.
    EXPECT_LT(bench.ended - bench.began, kLookups * 8 * 250);
    EXPECT_GT(bench.machine.memory().home(0).counts().passed_by, 0U);
    EXPECT_EQ(bench.machine.memory().audit(), std::nullopt);
  }
}

TEST(Race, a_simulation_that_stops_says_who_waits) {
  const PaperTable table = paper_table(10, 16);
  LookupBench bench(default_parameters(), image_of(table));
  const uint64_t line = line_of(kResultsAddress);
  bench.machine.memory().ask_home(0, HomeSlice::kLock, 0, line, bench.machine.events().now());
  Script script({store(kResultsAddress)});
  bench.machine.start(4, script);
  const Result<Cycle> ended = bench.machine.run(100'000);
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(ended.error().message.find("100000 cycles have passed"), std::string::npos);
  EXPECT_NE(ended.error().message.find("core 4 waits to write line " + std::to_string(line)),
            std::string::npos)
      << ended.error().message;
}

}  // namespace
}  // namespace roost::sim

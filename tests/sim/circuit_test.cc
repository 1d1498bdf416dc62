// The accelerator as a circuit, driven cycle by cycle at its ports: whoever is on the other side is
// slow, answers in any order, and holds back at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/accelerator.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

constexpr uint64_t kSlotsOfKeys = 512;

// Memory, distributor and result path of one accelerator. What it checks as it goes: what is
// offered stays until it is taken; reads of table lines lie in the table; locks balance; each query
// is answered once.
class Surroundings {
 public:
  Surroundings(const Parameters& parameters, const SimulatedMemory& memory, uint64_t seed,
               double patience)
      : accelerator(parameters), memory_(memory), draw_(seed), patience_(patience) {}

  void cycle() {
    const AcceleratorOutputs offered = accelerator.outputs();
    expect_kept(offered);
    AcceleratorInputs inputs;
    inputs.memory_ready = coin();
    inputs.lock_ready = coin();
    inputs.result_ready = coin();
    if (!queries.empty() && coin()) {
      inputs.query = queries.front();
      if (offered.query_ready) queries.erase(queries.begin());
    }
    if (!asked_.empty() && coin()) {
      const auto any = asked_.begin() + static_cast<ptrdiff_t>(draw_.below(asked_.size()));
      inputs.reply.emplace(AcceleratorInputs::Reply{any->identifier, memory_.read_line(any->line)});
      asked_.erase(any);
    }
    if (invalidate_next) inputs.invalidate = std::exchange(invalidate_next, std::nullopt);
    if (offered.memory && inputs.memory_ready) take(*offered.memory);
    if (offered.lock && inputs.lock_ready) take(*offered.lock);
    if (offered.result && inputs.result_ready) {
      EXPECT_TRUE(words.emplace(offered.result->token, offered.result->word).second)
          << "answered twice";
    }
    memory_held_ = offered.memory && !inputs.memory_ready ? offered.memory : std::nullopt;
    lock_held_ = offered.lock && !inputs.lock_ready ? offered.lock : std::nullopt;
    result_held_ = offered.result && !inputs.result_ready ? offered.result : std::nullopt;
    accelerator.tick(inputs);
    ++cycles;
  }

  Accelerator accelerator;
  std::vector<AcceleratorQuery> queries;
  std::optional<uint64_t> invalidate_next;
  std::map<uint32_t, uint64_t> words;
  std::map<uint64_t, uint32_t> locked;
  std::vector<uint64_t> table_lines;     // that were read
  std::vector<uint64_t> metadata_reads;  // lines
  std::vector<uint64_t> metadata_drops;
  uint64_t cycles = 0;

 private:
  bool coin() { return draw_.unit() < patience_; }

  void expect_kept(const AcceleratorOutputs& offered) {
    EXPECT_TRUE(!memory_held_ || offered.memory == memory_held_) << "what is offered stays";
    EXPECT_TRUE(!lock_held_ || offered.lock == lock_held_) << "what is offered stays";
    EXPECT_TRUE(!result_held_ || offered.result == result_held_) << "what is offered stays";
    EXPECT_LE(accelerator.occupancy(), 10U);
    EXPECT_EQ(offered.busy, accelerator.occupancy() == 10);
  }
  void take(const AcceleratorOutputs::MemoryRequest& request) {
    if (request.read == AcceleratorRead::kDropMetadata) {
      metadata_drops.push_back(request.line);
      return;
    }
    asked_.push_back(request);
    if (request.read == AcceleratorRead::kMetadata) {
      metadata_reads.push_back(request.line);
    } else if (address_of(request.line) >= kTableAddress) {
      table_lines.push_back(request.line);
      EXPECT_TRUE(locked.contains(request.line)) << "read before it was locked";
    }
  }
  void take(const AcceleratorOutputs::Lock& lock) {
    if (lock.is_lock) {
      ++locked[lock.line];
    } else {
      ASSERT_TRUE(locked.contains(lock.line)) << "unlocked, and was not locked";
      if (--locked[lock.line] == 0) locked.erase(lock.line);
    }
  }

  const SimulatedMemory& memory_;
  traffic::Draw draw_;
  double patience_;
  std::vector<AcceleratorOutputs::MemoryRequest> asked_;
  std::optional<AcceleratorOutputs::MemoryRequest> memory_held_;
  std::optional<AcceleratorOutputs::Lock> lock_held_;
  std::optional<AcceleratorOutputs::LookupResult> result_held_;
};

class Circuit : public ::testing::Test {
 protected:
  Circuit() : table_(paper_table(kSlotsOfKeys / 2, 64)) {
    EXPECT_TRUE(memory_.put_zeroes(kKeysAddress, 1 << 20).ok());
    for (uint64_t i = 0; i < 12; ++i)
      tables_.push_back(
          put_table(memory_, kTableAddress + i * (1 << 20), image_of(table_)).value());
    for (uint64_t i = 0; i < kSlotsOfKeys; ++i) {
      const KeyBytes key = bytes_of(key_of(i));
      memory_.write(address(i), std::span(key).first(16));
    }
  }
  // Some keys cross lines.
  [[nodiscard]] static uint64_t address(uint64_t i) { return kKeysAddress + i * 72 + 5; }
  [[nodiscard]] AcceleratorQuery query(uint32_t token, uint64_t i, uint64_t table) const {
    return {.token = token, .table = tables_[table], .key_address = address(i)};
  }
  static uint64_t right_word(uint64_t i) { return i % 2 == 0 ? found_word(i) : kNotFoundWord; }

  PaperTable table_;
  SimulatedMemory memory_;
  std::vector<uint64_t> tables_;
};

TEST_F(Circuit, answers_each_query_once_whatever_the_other_side_does) {
  for (const double patience : {1.0, 0.7, 0.3, 0.1}) {
    Surroundings around(default_parameters(), memory_, 9, patience);
    traffic::Draw draw(4);
    std::vector<uint64_t> keys;
    for (uint32_t token = 0; token < 2000; ++token) {
      keys.push_back(draw.below(kSlotsOfKeys));
      around.queries.push_back(query(token, keys.back(), draw.below(12)));
    }
    while (around.words.size() < keys.size() && around.cycles < 2'000'000) around.cycle();
    for (int i = 0; i < 1000; ++i) around.cycle();
    ASSERT_EQ(around.words.size(), keys.size());
    for (uint32_t token = 0; token < keys.size(); ++token)
      EXPECT_EQ(around.words[token], right_word(keys[token])) << token;
    EXPECT_TRUE(around.locked.empty()) << "at rest no lock is held";
    EXPECT_TRUE(around.accelerator.is_idle());
    EXPECT_EQ(around.accelerator.counts().admitted, keys.size());
    for (const uint64_t line : around.table_lines) {
      const uint64_t at = (address_of(line) - kTableAddress) % (1 << 20);
      EXPECT_TRUE(at >= 4096 && at < image_of(table_).size());
    }
  }
}

TEST_F(Circuit, ten_tables_have_their_metadata_and_the_eleventh_takes_a_line) {
  Surroundings around(default_parameters(), memory_, 9, 1.0);
  const auto ask = [&](uint64_t table) {
    const auto token = static_cast<uint32_t>(around.words.size());
    around.queries.push_back(query(token, 2, table));
    while (!around.words.contains(token)) around.cycle();
  };
  for (int round = 0; round < 3; ++round)
    for (uint64_t table = 0; table < 10; ++table) ask(table);
  EXPECT_EQ(around.metadata_reads.size(), 10U);
  EXPECT_TRUE(around.metadata_drops.empty());
  ask(10);
  EXPECT_EQ(around.metadata_reads.size(), 11U);
  EXPECT_EQ(around.metadata_drops, std::vector<uint64_t>{line_of(tables_[0])})
      << "the first one's turn";
  ask(0);
  EXPECT_EQ(around.metadata_reads.back(), line_of(tables_[0]));
}

TEST_F(Circuit, invalidated_metadata_serves_no_further_query) {
  Surroundings around(default_parameters(), memory_, 9, 1.0);
  around.queries.push_back(query(0, 2, 0));
  while (!around.words.contains(0)) around.cycle();
  around.invalidate_next = line_of(tables_[0]);
  around.cycle();
  around.queries.push_back(query(1, 2, 0));
  while (!around.words.contains(1)) around.cycle();
  EXPECT_EQ(around.metadata_reads.size(), 2U);
}

TEST_F(Circuit, metadata_that_is_invalidated_on_its_way_is_read_again) {
  const Parameters parameters = default_parameters();
  Accelerator accelerator(parameters);
  const auto tick = [&](AcceleratorInputs inputs) {
    const auto request = accelerator.outputs().memory;
    accelerator.tick(inputs);
    return request;
  };
  AcceleratorInputs begin;
  begin.query = query(0, 2, 0);
  (void)tick(begin);
  uint64_t reads = 0;
  const auto wait_for_read = [&] {
    for (int i = 0; i < 20; ++i) {
      const auto request = tick({});
      if (request && request->read == AcceleratorRead::kMetadata) {
        ++reads;
        return request->identifier;
      }
    }
    return ~0U;
  };
  uint32_t identifier = wait_for_read();
  AcceleratorInputs gone;
  gone.invalidate = line_of(tables_[0]);
  (void)tick(gone);
  AcceleratorInputs stale;
  stale.reply.emplace(AcceleratorInputs::Reply{identifier, LineBytes{}});
  (void)tick(stale);
  identifier = wait_for_read();
  EXPECT_EQ(reads, 2U);
  AcceleratorInputs fresh;
  fresh.reply.emplace(AcceleratorInputs::Reply{identifier, memory_.read_line(line_of(tables_[0]))});
  (void)tick(fresh);
  std::optional<AcceleratorOutputs::MemoryRequest> key;
  for (int i = 0; i < 5 && !key; ++i) key = tick({});
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->line, line_of(address(2)));
}

TEST_F(Circuit, idle_cycles_change_nothing) {
  // The same lookups in a machine that ticks its accelerators always, and in one that does not.
  const auto ended = [](bool always) {
    LookupBench bench(default_parameters(), paper_table(1000, 256).image());
    if (always)
      for (Tile tile = 0; tile < 16; ++tile) bench.machine.accelerators().tile(tile).tick_always();
    std::vector<uint64_t> cycles;
    for (uint64_t i = 0; i < 60; ++i) cycles.push_back(bench.look_up(i % 16, i).cycles);
    std::vector<Op> ops;
    for (uint64_t i = 0; i < 60; ++i) ops.push_back(bench.lookup_nb(i, kResultsAddress + 8 * i));
    bench.run(3, ops);
    cycles.push_back(bench.ended - bench.began);
    return cycles;
  };
  EXPECT_EQ(ended(true), ended(false));
}

TEST_F(Circuit, the_same_input_gives_the_same_output) {
  const auto trace = [&] {
    Surroundings around(default_parameters(), memory_, 5, 0.5);
    for (uint32_t token = 0; token < 300; ++token)
      around.queries.push_back(query(token, token, token % 12));
    while (around.words.size() < 300) around.cycle();
    return std::pair(around.cycles, around.table_lines);
  };
  EXPECT_EQ(trace(), trace());
}

TEST_F(Circuit, the_flow_register_has_the_bits_of_the_hashes_and_is_cleared) {
  Surroundings around(default_parameters(), memory_, 9, 1.0);
  const TableMetadata table = *TableMetadata::of_line(memory_.read_line(line_of(tables_[0])));
  std::set<uint64_t> bits;
  for (uint32_t token = 0; token < 12; ++token) {
    bits.insert(hash_of(table, bytes_of(key_of(token))).bits % 32);
    around.queries.push_back(query(token, token, 0));
  }
  while (around.words.size() < 12) around.cycle();
  for (uint64_t bit = 0; bit < 32; ++bit)
    EXPECT_EQ(around.accelerator.flow_bits()[bit], bits.contains(bit)) << bit;
  EXPECT_EQ(around.accelerator.unset_flow_bits(), 32 - bits.size());
  AcceleratorInputs clear;
  clear.clear_flows = true;
  around.accelerator.tick(clear);
  EXPECT_EQ(around.accelerator.unset_flow_bits(), 32U);
}

}  // namespace
}  // namespace roost::sim

// Tables of all sizes and loads for the circuit and its model. ROOST_RTL_QUERIES says how many
// queries: 100,000 by default, 1,000,000 in `./dev test --all`.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/rtl/cosimulation.h"
#include "tests/rtl/lookup_tables.h"

namespace roost::sim {
inline uint64_t queries_wanted() {
  const char* wanted = std::getenv("ROOST_RTL_QUERIES");
  return wanted == nullptr ? 100'000 : std::strtoull(wanted, nullptr, 10);
}

inline constexpr uint64_t kKeysAt = uint64_t{1} << 24;
inline constexpr uint64_t kTablesAt = uint64_t{1} << 32;
inline constexpr uint64_t kTableStep = uint64_t{1} << 28;
inline constexpr uint64_t kKeyStep = 160;  // some keys cross lines

// One table, at a load, and beside it small ones: so many that not all have their metadata cached,
// one under a mask, one whose keys are shorter than they are padded to, one whose line is none of a
// table, and two that say less than they have.
template <class Circuit, size_t kBytes, size_t kValueBytes>
class Scene {
 public:
  Scene(const Parameters& parameters, const Filling& filling, uint64_t queries)
      : main_(filling), parameters_(parameters) {
    if (filling.alike == 1) {
      EXPECT_EQ(main_.refused(), 0U);
    }
    EXPECT_TRUE(memory_.put_zeroes(kKeysAt, queries * kKeyStep + 4096).ok());
    add(main_.image(), {});
    for (uint64_t i = 0; i < kSmall; ++i) {
      small_.push_back(std::make_unique<LookupTable<kBytes, kValueBytes>>(
          Filling{.slot_bits = 7, .load = 0.6, .alike = i % 3 + 1, .hash_seed = 7 + i}));
      add(small_.back()->image(), i == kMasked ? mask() : std::nullopt);
    }
    change_line(kShort, [](TableMetadata& table) { table.key_bytes = kBytes; });
    change_line(kNoTable, [](TableMetadata& table) { table.slots = 7; });
    change_line(kCutInBuckets, [](TableMetadata& table) { table.limit = table.buckets * 32 + 24; });
    change_line(kCutInEntries, [](TableMetadata& table) { table.limit = table.limit * 3 / 5; });
    circuit_ = std::make_unique<Cosimulation<Circuit>>(parameters, memory_, filling.hash_seed);
  }

  // Looks `count` keys up, so many of a hundred of which are in no table.
  void run(uint64_t count, uint64_t misses, const Patience& patience) {
    traffic::Draw draw(count + misses);
    std::vector<AcceleratorQuery> queries;
    asked_.clear();
    for (uint32_t token = 0; token < count; ++token) {
      Asked asked{.table = draw.below(10) < 7 ? 0 : draw.below(tables_.size())};
      const auto& table = asked.table == 0 ? main_ : *small_[asked.table - 1];
      asked.number = draw.below(table.numbers() / 2) * 2 + (draw.below(100) < misses ? 1 : 0);
      asked.key = key_bytes_of(table.key(asked.number));
      AcceleratorQuery query{.token = token, .table = tables_[asked.table]};
      query.key_address = kKeysAt + token * kKeyStep + draw.below(64);
      query.has_key = parameters_.key == KeyChoice::kCommand && draw.below(2) == 0;
      if (query.has_key) {
        query.key = asked.key;
      } else {
        KeyBytes padded = asked.key;
        if (asked.table == kShort + 1) padded[kPadded - 1] |= std::byte{kPadded - kBytes};
        memory_.write(query.key_address, std::span(padded).first(kPadded));
      }
      queries.push_back(query);
      asked_.push_back(asked);
    }
    circuit_->run(queries, tables_, patience,
                  [this](uint32_t token, uint64_t word) { check(token, word); });
    if (counts().differences != 0) return;
    for (const Asked& asked : asked_) EXPECT_EQ(asked.answers, 1U) << "answered once";
  }

  [[nodiscard]] const CosimulationCounts& counts() const { return circuit_->counts; }
  [[nodiscard]] const AcceleratorCounts& model_counts() const { return circuit_->model_counts(); }
  [[nodiscard]] uint64_t stashed() const { return main_.stashed(); }

 private:
  static constexpr uint64_t kSmall = 12;
  static constexpr uint64_t kMasked = 2;  // numbers of small tables
  // No two of its keys have one hash, so that those it has not are looked for in both buckets.
  static constexpr uint64_t kCutInBuckets = 3;
  static constexpr uint64_t kNoTable = 4;
  static constexpr uint64_t kCutInEntries = 5;
  static constexpr uint64_t kShort = 6;  // whose keys have no zeroes behind them
  static constexpr size_t kPadded = padded_key_bytes(kBytes);
  struct Asked {
    uint64_t table = 0;
    uint64_t number = 0;
    KeyBytes key{};
    uint32_t answers = 0;
  };

  void add(std::span<const std::byte> image, std::optional<KeyMask> mask) {
    tables_.push_back(
        put_table(memory_, kTablesAt + tables_.size() * kTableStep, image, mask).value());
  }
  // Everything but three bits of byte 1, and byte 2.
  static std::optional<KeyMask> mask() {
    std::array<std::byte, kBytes> bits;
    bits.fill(std::byte{0xFF});
    bits[1] = std::byte{0x1F};
    bits[2] = std::byte{0};
    return KeyMask::of(bits).value();
  }
  template <class Change>
  void change_line(uint64_t small, Change&& change) {
    const uint64_t address = tables_[small + 1];
    TableMetadata table = *TableMetadata::of_line(memory_.read_line(line_of(address)));
    change(table);
    memory_.write(address, table.line());
  }

  void check(uint32_t token, uint64_t word) {
    Asked& asked = asked_[token];
    ++asked.answers;
    if (asked.table == 0) {
      EXPECT_TRUE(main_.is_right(memory_, asked.number, word)) << word;
      return;
    }
    const uint64_t right = lookup_word(memory_, tables_[asked.table], asked.key);
    const uint64_t small = asked.table - 1;
    const bool is_cut = small == kCutInBuckets || small == kCutInEntries;
    EXPECT_TRUE(word == right || (is_cut && word == kRefusedWord)) << word << " and not " << right;
  }

  LookupTable<kBytes, kValueBytes> main_;
  std::vector<std::unique_ptr<LookupTable<kBytes, kValueBytes>>> small_;
  Parameters parameters_;
  SimulatedMemory memory_;
  std::vector<uint64_t> tables_;
  std::vector<Asked> asked_;
  std::unique_ptr<Cosimulation<Circuit>> circuit_;
};

inline constexpr std::array<double, 3> kLoads = {0.3, 0.8, 0.95};
inline constexpr std::array<uint64_t, 3> kMisses = {0, 50, 100};

// What the other side is like: quick, in a hurry to ask and slow at one port, slow everywhere.
inline const std::array<Patience, 6> kPatience = {{
    {},
    {.reply = 0.3},
    {.memory = 0.4},
    {.lock = 0.4},
    {.result = 0.15, .invalidate = 0.02},
    {.query = 0.5, .memory = 0.6, .lock = 0.6, .result = 0.5, .reply = 0.5, .clear_flows = 0.1},
}};

inline Parameters paper_parameters() { return default_machine().at(Level::kMiddle); }

// All loads and misses over tables of these sizes.
template <class Circuit, size_t kBytes, size_t kValueBytes>
void expect_equal(const Parameters& parameters, std::span<const unsigned> sizes, uint64_t queries,
                  uint64_t alike = 1, bool has_stash = false) {
  const uint64_t each = queries / (sizes.size() * kLoads.size() * kMisses.size()) + 1;
  CosimulationCounts all;
  uint64_t turn = 0;
  uint64_t mismatches = 0;
  for (const unsigned size : sizes) {
    for (const double load : kLoads) {
      Scene<Circuit, kBytes, kValueBytes> scene(parameters,
                                                {.slot_bits = size,
                                                 .load = load,
                                                 .alike = alike,
                                                 .has_stash = has_stash,
                                                 .hash_seed = size},
                                                each);
      EXPECT_EQ(scene.stashed() != 0, has_stash);
      for (const uint64_t misses : kMisses)
        scene.run(each, misses, kPatience[turn++ % kPatience.size()]);
      all.cycles += scene.counts().cycles;
      all.answers += scene.counts().answers;
      all.found += scene.counts().found;
      all.refused += scene.counts().refused;
      mismatches += scene.model_counts().mismatches;
      ASSERT_EQ(scene.counts().differences, 0U) << "2^" << size << " slots at load " << load;
    }
  }
  EXPECT_GE(all.answers, queries);
  EXPECT_GT(all.refused, 0U);
  if (alike > 6) {
    EXPECT_GT(mismatches, all.answers) << "other keys with the key's signature";
  }
  std::printf(
      "%llu queries (%llu found, %llu refused) in %llu cycles: 0 differences\n",
      static_cast<unsigned long long>(all.answers), static_cast<unsigned long long>(all.found),
      static_cast<unsigned long long>(all.refused), static_cast<unsigned long long>(all.cycles));
}

}  // namespace roost::sim

// Tables with a mask each and their keys, for tests of what looks keys up in several.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "sim/lookup_run.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {

inline constexpr uint64_t kTupleEntries = 200;

// Table t looks at the first word of a key and at t + 1 bits of the second one.
[[nodiscard]] inline traffic::Key128 mask_bits(size_t table) {
  return {{~uint64_t{0}, (uint64_t{2} << table) - 1}};
}

// Tables far enough apart; key number i is of table i % tables, as an entry of it and as a packet
// has it.
class TupleTables {
 public:
  explicit TupleTables(size_t count) : count_(count) {
    tables_.reserve(count);
    for (size_t table = 0; table < count; ++table) {
      tables_.push_back(
          PaperTable::create({.buckets = 64, .entries = kTupleEntries, .seed = 5 + table}).value());
      for (uint64_t i = table; i < kTupleEntries * count; i += count) {
        const traffic::Key128 key = entry_key(i);
        EXPECT_TRUE(tables_.back().insert(std::as_bytes(std::span(&key, 1)), i));
      }
    }
  }
  [[nodiscard]] traffic::Key128 packet_key(uint64_t i) const {
    return {{traffic::mix(i + 1), traffic::mix(i + 77)}};
  }
  [[nodiscard]] traffic::Key128 entry_key(uint64_t i) const {
    const traffic::Key128 mask = mask_bits(i % count_);
    const traffic::Key128 key = packet_key(i);
    return {{key.words[0] & mask.words[0], key.words[1] & mask.words[1]}};
  }
  [[nodiscard]] RunTables run_tables() const {
    RunTables tables;
    for (size_t table = 0; table < count_; ++table) {
      const traffic::Key128 mask = mask_bits(table);
      tables.push_back({.image = image_of(tables_[table]),
                        .mask = KeyMask::of(std::as_bytes(std::span(&mask, 1))).value(),
                        .address = kRunTableAddress + table * 0x11000});
    }
    return tables;
  }

 private:
  size_t count_;
  std::vector<PaperTable> tables_;
};

// What some of those keys are asked for with.
struct AskedTuples {
  AskedTuples(const TupleTables& tables, const std::vector<uint64_t>& numbers)
      : run(tables.run_tables()) {
    for (const uint64_t i : numbers) keys.push_back(bytes_of(tables.packet_key(i)));
    words = words_of(run, keys).value();
    for (const RunTable& table : run)
      addresses.push_back(put_table(memory, table.address, table.image, table.mask).value());
    for (const uint64_t address : addresses)
      metadata.push_back(*TableMetadata::of_line(memory.read_line(line_of(address))));
  }
  [[nodiscard]] LookupTrace trace() const { return {keys, words}; }
  [[nodiscard]] LookupPath path(size_t key, size_t table) const {
    return lookup_path(memory, metadata[table], keys[key]);
  }

  RunTables run;
  std::vector<KeyBytes> keys;
  std::vector<uint64_t> words;
  SimulatedMemory memory;
  std::vector<uint64_t> addresses;
  std::vector<TableMetadata> metadata;
};

// The first key of table `table` of two that is in its first bucket, alone with its signature; and
// whose buckets in table 0, if that is another, have no such signature.
[[nodiscard]] inline uint64_t plain_key(const TupleTables& tables, size_t table) {
  for (uint64_t i = table;; i += 2) {
    const AskedTuples asked(tables, {i});
    const LookupPath path = asked.path(0, table);
    const LookupPath other = asked.path(0, 0);
    const bool is_plain = path.looks.size() == 1 && path.looks[0].entries.size() == 1;
    const bool is_absent =
        other.looks.size() == 2 && !other.looks[0].has_candidate && !other.looks[1].has_candidate;
    if (is_plain && (table == 0 || is_absent)) return i;
  }
}

}  // namespace roost::sim

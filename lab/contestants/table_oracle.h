// The oracle in a table's own memory: it reads the very lines that hold the table's entries.
//
// For sizes where the machine has no room for another table (line_oracle.h), and to see a table and
// its oracle on the same bytes. Before anything is timed the table is asked where the value of each
// query is; the answers stand in an array beside the queries and are streamed along with them, 8
// bytes a query, in place of hashing. What is timed compares nothing: it reads the bucket's line,
// and after it the value's. The line of a bucket says nothing that the oracle needs, so a word of
// it is multiplied by a zero that only run time knows: the processor must wait for it all the same.
//
// A hit reads the line of the bucket that its entry is in, a miss that of any bucket. Places are
// good until the table changes; then the answers are wrong, and the check says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "lab/contestants/oracle_lookup.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/hash/hash64.h"
#include "roost/isa/prefetch.h"
#include "roost/table/image_header.h"

namespace roost::lab {

// The memory that was lent to a table, and how many buckets it has there, the stash's included.
struct TableMemory {
  std::span<const std::byte> bytes;
  uint64_t bucket_count;
};

// `Table` is a contestant of ours whose entry_address() is that of the value, null on a miss.
// `kLines` is 2 for the split layout with 32-byte entries and buckets of eight, 1 for values in the
// bucket's line.
template <class Table, unsigned kLines, PrefetchHint kHint>
class TableOracle {
  static constexpr uint64_t kLineBytes = 64;
  static constexpr uint64_t kBucketEntriesBytes = uint64_t{8} * 32;
  static constexpr uint64_t kHit = uint64_t{1} << 63;  // of a place; the rest is an offset

 public:
  using KeyType = KeyOf<Table>;
  using ValueType = ValueOf<Table>;
  using Answer = ValueType;
  using Place = uint64_t;
  using Ahead = OracleAhead<TableOracle, kHint>;
  static constexpr std::string_view kName =
      std::array<std::string_view, 3>{"oracle_in_table_t0", "oracle_in_table_t1",
                                      "oracle_in_table_nta"}[static_cast<size_t>(kHint)];
  static constexpr double kLinesOnHit = kLines;
  static constexpr double kLinesOnMiss = 1;

  // For lookups of `stream`, in order, by the calls of a driver; it stays where it is.
  TableOracle(Table& table, TableMemory memory, std::span<const KeyType> stream)
      : memory_{memory.bytes.subspan(sizeof(ImageHeader)), memory.bucket_count}, stream_(stream) {
    places_.reserve(stream.size());
    for (const KeyType& key : stream) {
      const auto* value = static_cast<const std::byte*>(table.entry_address(key));
      places_.push_back(value == nullptr
                            ? offset_of_bucket(any_bucket())
                            : static_cast<uint64_t>(value - memory_.bytes.data()) | kHit);
    }
  }

  void lookup(std::span<const KeyType> keys, std::span<ValueType> answers, HitWords hits) const {
    OracleLookup<TableOracle, kHint>(*this).run(keys, nullptr, {}, answers, hits);
  }

  [[gnu::always_inline]] Place place_of(const KeyType& key) const {
    const auto query = static_cast<size_t>(&key - stream_.data());
    ROOST_DEBUG_ASSERT(query < places_.size());
    return places_[query];
  }
  [[gnu::always_inline]] const std::byte* first_line(Place place) const {
    const uint64_t offset = place & ~kHit;
    if constexpr (kLines == 1) return memory_.bytes.data() + offset / kLineBytes * kLineBytes;
    return memory_.bytes.data() + (offset - entries_offset()) / kBucketEntriesBytes * kLineBytes;
  }
  [[gnu::always_inline]] OracleEnd end_of(Place place) const {
    uint64_t word = 0;
    std::memcpy(&word, first_line(place), sizeof(word));
    const uint64_t nothing = word * zero_;
    return {memory_.bytes.data() + (place & ~kHit) + nothing,
            static_cast<uint32_t>((place >> 63) + nothing)};
  }

  static bool is_answer(const ValueType& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const ValueType& answer) { return word_of(answer); }

 private:
  [[nodiscard]] uint64_t entries_offset() const { return memory_.bucket_count * kLineBytes; }

  // One for the next place, spread evenly.
  [[nodiscard]] uint64_t any_bucket() const {
    return multiply_wide(mix(places_.size()), memory_.bucket_count).high;
  }

  // An offset that leads to this bucket's line.
  [[nodiscard]] uint64_t offset_of_bucket(uint64_t bucket) const {
    return kLines == 1 ? bucket * kLineBytes : entries_offset() + bucket * kBucketEntriesBytes;
  }

  static uint64_t unknown_zero() {
    const volatile uint64_t zero = 0;
    return zero;
  }

  TableMemory memory_;  // from the first bucket's line on
  std::span<const KeyType> stream_;
  std::vector<Place> places_;  // offset of the value, or one that leads to the line of a miss
  uint64_t zero_ = unknown_zero();
};

}  // namespace roost::lab

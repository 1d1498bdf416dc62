// What a value-only table must offer to be measured, and whatever is measured beside them.
//
// It is built of all entries at once and answers batches. A key's value follows from the key
// (value_of_word), so every answer can be checked without storing what was entered. The answer to a
// stranger, a key that was not entered, may be any value, unless the table keeps keys.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct ValueTableConfig {
  uint32_t key_bits = 48;
  uint32_t value_bits = 16;  // 4 to 32
  double load = 0.85;        // keys over slots
  PageKind pages = PageKind::kSmall;
  uint64_t seed = 1;
};

template <class Key>
struct ValueEntry {
  Key key{};
  uint32_t value = 0;
};
template <class Key>
using ValueEntries = std::span<const ValueEntry<Key>>;

// A word of a key: all its bits have a part in every bit.
[[nodiscard]] constexpr uint64_t mixed_word(uint64_t key) { return mix(key); }
[[nodiscard]] inline uint64_t mixed_word(const traffic::Key104& key) {
  const Key wide = traffic::widened(key);
  return mix(mix(wide.words[0]) + wide.words[1]);
}
// What a model learns of a key: its first 64 bits, the first byte foremost.
[[nodiscard]] constexpr uint64_t model_word(uint64_t key) { return key; }
[[nodiscard]] inline uint64_t model_word(const traffic::Key104& key) {
  uint64_t word = 0;
  for (size_t byte = 0; byte < sizeof word; ++byte) word = word << 8 | key.bytes[byte];
  return word;
}

// The value that nothing has, and the value of a key with this mixed word, which is below it.
[[nodiscard]] constexpr uint32_t absent_value(uint32_t value_bits) {
  return UINT32_MAX >> (32 - value_bits);
}
[[nodiscard]] constexpr uint32_t value_of_word(uint64_t word, uint32_t value_bits) {
  return static_cast<uint32_t>((word & UINT32_MAX) * absent_value(value_bits) >> 32);
}

// What all of them have in common.
template <class Key>
struct ValueAnswers {
  using KeyType = Key;
  using Answer = uint32_t;
  static uint64_t answer_word(uint32_t answer) { return answer; }
};

template <class Table>
concept ValueTable = PlainLookup<Table> && Answering<Table> &&
                     requires(const Table table, const ValueTableConfig& config,
                              ValueEntries<KeyOf<Table>> entries) {
                       // Entries are sorted by the model's word and have one each. Errors: the
                       // table cannot have these keys, or no memory.
                       { Table::build(config, entries) } -> std::same_as<Result<Table>>;
                       // Bytes that lookups may read; those beside them that changes need.
                       { table.image_bytes() } -> std::same_as<uint64_t>;
                       { table.builder_bytes() } -> std::same_as<uint64_t>;
                       // Inside the image: its pages are read back.
                       { table.image_address() } -> std::convertible_to<const void*>;
                       // Whether a set bit is certain.
                       { Table::kKeepsKeys } -> std::convertible_to<bool>;
                     };

// Can be changed after it was built.
template <class Table>
concept ChangingValues = requires(Table table, const KeyOf<Table>& key, uint32_t value) {
  { table.insert(key, value) } -> std::same_as<compact::ChangeOutcome>;
  { table.update(key, value) } -> std::same_as<compact::ChangeOutcome>;
  { table.erase(key) } -> std::same_as<compact::ChangeOutcome>;
};

// Must now and then be made anew of its own keys, to go on with changes.
template <class Table>
concept RebuildingValues = requires(Table table) {
  { table.rebuild() } -> std::same_as<Result<Table>>;
};

// Reads what no one may change meanwhile: to be read again after changes.
template <class Table>
concept ReopeningValues = requires(Table table) { table.reopen(); };

// Says more of itself than its bytes: figures by name, each with a note.
struct ValueFact {
  std::string metric;
  double value = 0;
  std::string note = {};
};
template <class Table>
concept TellingValues = requires(const Table table) {
  { table.facts() } -> std::same_as<std::vector<ValueFact>>;
};

// Has its keys in order: writes the values of those from `low` to `high`, and maybe a few of others
// that it cannot tell from them; how many, at most as many as there is room for.
template <class Table>
concept ScanningValues =
    requires(const Table table, const KeyOf<Table>& key, std::span<uint32_t> values) {
      { table.scan(key, key, values) } -> std::same_as<size_t>;
    };

}  // namespace roost::lab

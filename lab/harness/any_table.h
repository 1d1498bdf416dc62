// A contestant with its type forgotten, so that experiments are compiled once and contestants are
// chosen by name.
//
// Whatever is timed stays inside one virtual call: a pass over a stream, a chunk of insertions.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/harness/any_oracle.h"
#include "lab/harness/call.h"
#include "lab/harness/contestant.h"
#include "lab/harness/drive.h"
#include "lab/harness/replacing.h"
#include "lab/harness/workload.h"
#include "roost/base/result.h"
#include "roost/memory/pages_behind.h"
#include "roost/table/table_stats.h"

namespace roost::lab {

class AnyTable {
 public:
  AnyTable() = default;
  AnyTable(const AnyTable&) = delete;
  AnyTable& operator=(const AnyTable&) = delete;
  virtual ~AnyTable() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual size_t key_bytes() const = 0;
  [[nodiscard]] virtual size_t value_bytes() const = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() = 0;
  [[nodiscard]] virtual FewestLines fewest_lines() = 0;
  [[nodiscard]] virtual PagesBehind pages(const Key& present) = 0;

  // See form_of().
  [[nodiscard]] virtual std::optional<std::string> form(Call call) const = 0;

  // Lookups. `wrong` says what was wrong first; `expected` is what a pass must find.
  [[nodiscard]] virtual std::optional<std::string> first_wrong(const Stream& stream, Call call) = 0;
  [[nodiscard]] virtual PassOutcome expected(const Stream& stream) const = 0;
  [[nodiscard]] virtual PassOutcome pass(const Stream& stream, Call call) = 0;

  // The oracles that the table knows for a stream, as it now stands (HasOracles): good until it
  // changes.
  [[nodiscard]] virtual std::vector<std::unique_ptr<AnyOracle>> oracles(const Stream& stream) = 0;

  // Inserts the keys with indices from `first` to `past - 1`, in calls of `lanes` keys if the table
  // takes batches, else and for one lane by the call for one key, and stops at the first refusal.
  // The time is that of the insertions alone.
  struct Inserted {
    uint64_t stored = 0;
    double seconds = 0;
  };
  virtual Inserted insert(const traffic::KeySource& keys, uint64_t first, uint64_t past,
                          size_t lanes) = 0;
  [[nodiscard]] virtual bool inserts_batches() const = 0;
  // Fills the table with the first keys by several threads, which also make the keys in that time;
  // nothing if it cannot be filled so.
  virtual std::optional<Inserted> bulk_load(const traffic::KeySource& keys, uint64_t count,
                                            unsigned threads) = 0;
  [[nodiscard]] virtual bool can_clear() const = 0;
  virtual void clear() = 0;

  // The same table for another thread; nothing if one thread has it to itself.
  [[nodiscard]] virtual std::unique_ptr<AnyTable> reader() const = 0;

  // What a table that checks itself says is wrong, if anything.
  [[nodiscard]] virtual bool can_audit() const = 0;
  [[nodiscard]] virtual std::optional<std::string> audit() const = 0;

  // Of tables that several threads use: brings a key in with the value of a generation, or gives it
  // that value; false if there is no room. Takes it out; false if it was not there.
  [[nodiscard]] virtual bool has_generations() const = 0;
  virtual bool put(const Key& key, uint8_t generation) = 0;
  virtual bool take_out(const Key& key) = 0;
  // Looks up to kPlainCall.lanes keys up in one call; what was seen of each.
  struct Seen {
    bool is_hit;
    bool is_of_key;  // whether the value is one of this key's
    uint8_t generation;
  };
  virtual void look_up(std::span<const Key> keys, std::span<Seen> seen) = 0;

  [[nodiscard]] virtual bool can_churn() const = 0;

  // Erases a key and inserts another, each by a call of its own, as often as there are keys; stops
  // where one of the two fails. What was stored, in the time of all of it.
  virtual Inserted replace(const Churn& churn) = 0;

  // Lookups with insertions and erasures between them: after each call as many as are due, so that
  // the table's load stays; queries ask for keys that stay. Counts as hits also what was erased and
  // stored.
  [[nodiscard]] virtual PassOutcome churn(const Stream& stream, Call call, const Churn& churn) = 0;

  // What is known of its insides, if anything.
  [[nodiscard]] virtual std::optional<std::string> line_hint() const = 0;
  [[nodiscard]] virtual std::optional<TableStats> stats() const = 0;
  [[nodiscard]] virtual std::optional<StructuralCounts> counts() const = 0;
  // Lines that every lookup touches, on a hit and on a miss.
  [[nodiscard]] virtual std::optional<std::pair<double, double>> known_lines() const = 0;
};

// How contestants are made: `counted` makes the twin that counts, if there is one.
struct ContestantEntry {
  using Create = std::function<Result<std::unique_ptr<AnyTable>>(uint64_t slots, PageKind pages)>;

  std::string_view name;
  Create create;
  Create counted;
};

template <Contestant Table>
class TypedTable final : public AnyTable {
 public:
  explicit TypedTable(Table table) : table_(std::move(table)) {}

  [[nodiscard]] std::string_view name() const override { return Table::kName; }
  [[nodiscard]] size_t key_bytes() const override { return sizeof(KeyOf<Table>); }
  [[nodiscard]] size_t value_bytes() const override { return sizeof(ValueOf<Table>); }
  [[nodiscard]] uint64_t memory_bytes() override { return table_.memory_bytes(); }
  [[nodiscard]] FewestLines fewest_lines() override { return table_.fewest_lines(); }
  [[nodiscard]] PagesBehind pages(const Key& present) override {
    return read_pages(table_.entry_address(own(present))).value_or(PagesBehind{});
  }

  [[nodiscard]] std::optional<std::string> form(Call call) const override {
    return form_of<Table>(call);
  }

  [[nodiscard]] std::optional<std::string> first_wrong(const Stream& stream, Call call) override {
    return with_view(table_, call, [&](auto& view) {
      return first_wrong_answer(view, stream.as<KeyOf<Table>>(), call.lanes);
    });
  }
  [[nodiscard]] PassOutcome expected(const Stream& stream) const override {
    return expected_outcome<ValueOf<Table>>(stream.as<KeyOf<Table>>());
  }
  [[nodiscard]] PassOutcome pass(const Stream& stream, Call call) override {
    return with_view(table_, call, [&](auto& view) {
      return drive(view, stream.as<KeyOf<Table>>(), call.lanes);
    });
  }

  [[nodiscard]] std::vector<std::unique_ptr<AnyOracle>> oracles(const Stream& stream) override {
    std::vector<std::unique_ptr<AnyOracle>> made;
    if constexpr (HasOracles<Table>) {
      const auto make = [&]<class... Oracle>(std::type_identity<std::tuple<Oracle...>>) {
        (made.push_back(std::make_unique<TypedOracle<Oracle>>(
             Oracle(table_, table_.memory(), stream.as<KeyOf<Table>>()))),
         ...);
      };
      make(std::type_identity<typename Table::Oracles>());
    }
    return made;
  }

  Inserted insert(const traffic::KeySource& keys, uint64_t first, uint64_t past,
                  size_t lanes) override {
    constexpr uint64_t kChunk = uint64_t{1} << 14;
    std::vector<KeyOf<Table>> chunk_keys;
    std::vector<ValueOf<Table>> values;
    Inserted inserted;
    for (uint64_t at = first; at < past; at += kChunk) {
      chunk_keys.resize(std::min(kChunk, past - at));
      values.resize(chunk_keys.size());
      make_entries<KeyOf<Table>, ValueOf<Table>>(keys, at, chunk_keys, values);
      const auto start = std::chrono::steady_clock::now();
      const uint64_t stored = insert_chunk(chunk_keys, values, lanes);
      inserted.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      inserted.stored += stored;
      if (stored < chunk_keys.size()) break;
    }
    return inserted;
  }
  [[nodiscard]] bool inserts_batches() const override { return BatchInserting<Table>; }
  std::optional<Inserted> bulk_load(const traffic::KeySource& keys, uint64_t count,
                                    unsigned threads) override {
    if constexpr (BulkLoading<Table>) {
      const auto start = std::chrono::steady_clock::now();
      const uint64_t refused =
          table_.bulk_load(count, threads, [&keys](uint64_t first, auto to, auto values) {
            make_entries<KeyOf<Table>, ValueOf<Table>>(keys, first, to, values);
          });
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      return Inserted{count - refused, took.count()};
    }
    return std::nullopt;
  }
  [[nodiscard]] bool can_clear() const override { return Clearable<Table>; }
  void clear() override {
    if constexpr (Clearable<Table>) table_.clear();
  }

  [[nodiscard]] std::unique_ptr<AnyTable> reader() const override {
    if constexpr (Sharing<Table>) return std::make_unique<TypedTable>(table_.reader());
    return nullptr;
  }
  [[nodiscard]] bool has_generations() const override { return kHasGenerations; }
  [[nodiscard]] bool can_audit() const override { return Auditing<Table>; }
  [[nodiscard]] std::optional<std::string> audit() const override {
    if constexpr (Auditing<Table>) {
      if (const auto wrong = table_.audit()) return std::string(*wrong);
    }
    return std::nullopt;
  }

  static constexpr bool kHasGenerations =
      Erasing<Table> && Sharing<Table> && std::is_same_v<ValueOf<Table>, traffic::Value16>;
  bool put(const Key& key, uint8_t generation) override {
    if constexpr (kHasGenerations)
      return table_.insert(own(key), of_generation(value_of<ValueOf<Table>>(key), generation));
    return false;
  }
  bool take_out(const Key& key) override {
    if constexpr (kHasGenerations) return table_.erase(own(key));
    return false;
  }
  void look_up(std::span<const Key> keys, std::span<Seen> seen) override {
    if constexpr (kHasGenerations) {
      std::array<KeyOf<Table>, kPlainCall.lanes> own_keys;
      std::array<ValueOf<Table>, kPlainCall.lanes> values{};
      std::array<uint64_t, hit_word_count(kPlainCall.lanes)> words{};
      for (size_t lane = 0; lane < keys.size(); ++lane) own_keys[lane] = own(keys[lane]);
      table_.lookup(std::span(own_keys).first(keys.size()), values, HitWords(words));
      for (size_t lane = 0; lane < keys.size(); ++lane) {
        const auto first = value_of<ValueOf<Table>>(keys[lane]);
        seen[lane] = {.is_hit = (words[0] >> lane & 1) != 0,
                      .is_of_key = word_of(values[lane]) == word_of(first),
                      .generation = static_cast<uint8_t>(values[lane].word - first.word)};
      }
    }
  }

  [[nodiscard]] bool can_churn() const override { return Erasing<Table>; }
  Inserted replace(const Churn& churn) override {
    Inserted replaced;
    const auto start = std::chrono::steady_clock::now();
    if constexpr (Erasing<Table>) {
      while (replaced.stored < churn.leaving.size() &&
             replace_one(table_, churn.leaving[replaced.stored], churn.arriving[replaced.stored]) ==
                 2)
        ++replaced.stored;
    }
    replaced.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return replaced;
  }
  [[nodiscard]] PassOutcome churn(const Stream& stream, Call call, const Churn& churn) override {
    PassOutcome outcome;
    if constexpr (Erasing<Table>) {
      const KeysOf<Table> queries = stream.as<KeyOf<Table>>();
      size_t done = 0;
      for (size_t at = 0; at < queries.size(); at += call.lanes) {
        const KeysOf<Table> keys = queries.subspan(at, std::min(call.lanes, queries.size() - at));
        const size_t due = churn.leaving.size() * (at + keys.size()) / queries.size();
        DueEntries<Table> entries(table_, churn.part(done, due));
        const PassOutcome found = drive(table_, keys, call.lanes);
        outcome.hit_count += found.hit_count;
        outcome.word_sum += found.word_sum;
        done += entries.count();
        outcome.hit_count += entries.replace();
        // More than one batch of them, where what has left is brought back.
        for (; done < due; done += kLanesMax)
          outcome.hit_count += DueEntries<Table>(table_, churn.part(done, due)).replace();
      }
    }
    return outcome;
  }

  [[nodiscard]] std::optional<std::string> line_hint() const override {
    if constexpr (SaysLineHint<Table>) return std::string(table_.line_hint());
    return std::nullopt;
  }
  [[nodiscard]] std::optional<TableStats> stats() const override {
    if constexpr (requires { table_.stats(); }) return table_.stats();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<StructuralCounts> counts() const override {
    if constexpr (Counting<Table>) return table_.counts();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::pair<double, double>> known_lines() const override {
    if constexpr (KnownLines<Table>) return std::pair{Table::kLinesOnHit, Table::kLinesOnMiss};
    return std::nullopt;
  }

 private:
  static KeyOf<Table> own(const Key& key) { return traffic::narrowed<KeyOf<Table>>(key); }

  // Stops at the first refusal; what was stored.
  uint64_t insert_chunk(std::span<const KeyOf<Table>> keys, std::span<const ValueOf<Table>> values,
                        [[maybe_unused]] size_t lanes) {
    uint64_t stored = 0;
    if constexpr (BatchInserting<Table>) {
      if (lanes > 1) {
        for (size_t at = 0; at < keys.size(); at += lanes) {
          const size_t count = std::min(lanes, keys.size() - at);
          const size_t taken = table_.insert(keys.subspan(at, count), values.subspan(at, count));
          stored += taken;
          if (taken < count) break;
        }
        return stored;
      }
    }
    while (stored < keys.size() && table_.insert(keys[stored], values[stored])) ++stored;
    return stored;
  }

  Table table_;
};

template <Contestant Table>
Result<std::unique_ptr<AnyTable>> any(Result<Table> table) {
  if (!table) return table.error();
  return std::unique_ptr<AnyTable>(std::make_unique<TypedTable<Table>>(std::move(table).value()));
}

template <Contestant Table>
Result<std::unique_ptr<AnyTable>> create_any(uint64_t slots, PageKind pages) {
  return any(Table::create(slots, pages));
}

template <Contestant Table>
ContestantEntry contestant() {
  ContestantEntry entry{.name = Table::kName, .create = create_any<Table>, .counted = {}};
  if constexpr (HasCountedTwin<Table>) entry.counted = create_any<typename Table::Counted>;
  return entry;
}

}  // namespace roost::lab

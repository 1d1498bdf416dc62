// A value-only table with its type forgotten but for its keys', so that jobs are compiled once and
// contestants are chosen by name. What is timed is one virtual call: a pass, or a batch of packets'
// lookups.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/harness/drive.h"
#include "lab/harness/value_contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/result.h"
#include "roost/memory/pages_behind.h"

namespace roost::lab {

// What is asked of a table that changes.
enum class ChangeKind : uint8_t { kInsert, kUpdate, kErase };
template <class Key>
struct Change {
  ChangeKind kind{};
  Key key{};
  uint32_t value = 0;
};
struct Changed {
  double seconds = 0;
  uint64_t rebuilds = 0;          // in this time
  std::vector<uint32_t> refused;  // places of changes that were not made
};

template <class Key>
class AnyValueTable {
 public:
  AnyValueTable() = default;
  AnyValueTable(const AnyValueTable&) = delete;
  AnyValueTable& operator=(const AnyValueTable&) = delete;
  virtual ~AnyValueTable() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual bool keeps_keys() const = 0;
  [[nodiscard]] virtual uint64_t image_bytes() const = 0;
  [[nodiscard]] virtual uint64_t builder_bytes() const = 0;
  [[nodiscard]] virtual PagesBehind pages() const = 0;
  [[nodiscard]] virtual std::vector<ValueFact> facts() const = 0;

  // Looks these keys up, in calls of so many; what was wrong first. The table has all of them.
  [[nodiscard]] virtual std::optional<std::string> first_wrong(ValueEntries<Key> entries,
                                                               size_t lanes) = 0;
  // One call.
  virtual void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) = 0;
  // One pass over a stream, as it is timed.
  [[nodiscard]] virtual PassOutcome pass(const Stream& stream, size_t lanes) = 0;

  [[nodiscard]] virtual bool can_change() const = 0;
  // One after the other; where a table must be rebuilt it is, and the change made again.
  virtual Changed change(std::span<const Change<Key>> changes) = 0;

  [[nodiscard]] virtual bool can_scan() const = 0;
  // How many values were given for the keys between two, at most as many as there is room for.
  virtual size_t scan(const Key& low, const Key& high, std::span<uint32_t> values) = 0;
};

template <ValueTable Table>
class TypedValueTable final : public AnyValueTable<KeyOf<Table>> {
  using Key = KeyOf<Table>;

 public:
  explicit TypedValueTable(Table table) : table_(std::move(table)) {}

  [[nodiscard]] std::string_view name() const override { return Table::kName; }
  [[nodiscard]] bool keeps_keys() const override { return Table::kKeepsKeys; }
  [[nodiscard]] uint64_t image_bytes() const override { return table_.image_bytes(); }
  [[nodiscard]] uint64_t builder_bytes() const override { return table_.builder_bytes(); }
  [[nodiscard]] PagesBehind pages() const override {
    return read_pages(table_.image_address()).value_or(PagesBehind{});
  }

  [[nodiscard]] std::vector<ValueFact> facts() const override {
    if constexpr (TellingValues<Table>) return table_.facts();
    return {};
  }

  [[nodiscard]] std::optional<std::string> first_wrong(ValueEntries<Key> entries,
                                                       size_t lanes) override {
    std::array<Key, kLanesMax> keys;
    std::array<uint32_t, kLanesMax> answers{};
    std::array<uint64_t, hit_word_count(kLanesMax)> words{};
    for (size_t first = 0; first < entries.size(); first += lanes) {
      const size_t count = std::min(lanes, entries.size() - first);
      for (size_t lane = 0; lane < count; ++lane) keys[lane] = entries[first + lane].key;
      table_.lookup(std::span<const Key>(keys.data(), count), answers, HitWords(words));
      for (size_t lane = 0; lane < count; ++lane) {
        const bool is_found = HitWords(words).test(lane);
        if (is_found && answers[lane] == entries[first + lane].value) continue;
        return "key " + std::to_string(first + lane) +
               (is_found ? " has another value" : " was not found");
      }
    }
    return {};
  }
  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) override {
    table_.lookup(keys, answers, hits);
  }
  [[nodiscard]] PassOutcome pass(const Stream& stream, size_t lanes) override {
    return drive(table_, stream.as<Key>(), lanes);
  }

  [[nodiscard]] bool can_change() const override { return ChangingValues<Table>; }
  Changed change(std::span<const Change<Key>> changes) override {
    Changed changed;
    if constexpr (ChangingValues<Table>) {
      const auto start = std::chrono::steady_clock::now();
      for (size_t i = 0; i < changes.size(); ++i) {
        if (make(changes[i])) continue;
        if (!rebuild(changed) || !make(changes[i]))
          changed.refused.push_back(static_cast<uint32_t>(i));
      }
      changed.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if constexpr (ReopeningValues<Table>) table_.reopen();
    }
    return changed;
  }

  [[nodiscard]] bool can_scan() const override { return ScanningValues<Table>; }
  size_t scan(const Key& low, const Key& high, std::span<uint32_t> values) override {
    if constexpr (ScanningValues<Table>) return table_.scan(low, high, values);
    return 0;
  }

 private:
  bool make(const Change<Key>& change)
    requires ChangingValues<Table>
  {
    compact::ChangeOutcome outcome{};
    switch (change.kind) {
      case ChangeKind::kInsert:
        outcome = table_.insert(change.key, change.value);
        break;
      case ChangeKind::kUpdate:
        outcome = table_.update(change.key, change.value);
        break;
      case ChangeKind::kErase:
        outcome = table_.erase(change.key);
        break;
    }
    return outcome == compact::ChangeOutcome::kDone;
  }
  bool rebuild(Changed& changed) {
    if constexpr (RebuildingValues<Table>) {
      auto anew = table_.rebuild();
      if (!anew) return false;
      table_ = std::move(anew).value();
      ++changed.rebuilds;
      return true;
    }
    return false;
  }

  Table table_;
};

// How contestants with keys of this type are made.
template <class Key>
struct ValueContestant {
  using Made = Result<std::unique_ptr<AnyValueTable<Key>>>;

  std::string_view name;
  std::function<Made(const ValueTableConfig&, ValueEntries<Key>)> build;
};

template <ValueTable Table>
ValueContestant<KeyOf<Table>> value_contestant() {
  using Made = typename ValueContestant<KeyOf<Table>>::Made;
  return {Table::kName,
          [](const ValueTableConfig& config, ValueEntries<KeyOf<Table>> entries) -> Made {
            auto table = Table::build(config, entries);
            if (!table) return table.error();
            return Made(std::make_unique<TypedValueTable<Table>>(std::move(table).value()));
          }};
}

}  // namespace roost::lab

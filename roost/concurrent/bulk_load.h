// Fills an empty table by several threads, before it is shared.
//
//   roost::bulk_load(fib, {.count = 1'000'000'000, .threads = 2},
//                    [&](uint64_t first, std::span<Mac> keys, std::span<Port> ports) { ... });
//
// Idea: each thread has a range of buckets of its own, and fills them with those entries whose
// primary bucket is there and has room: nine of ten at a load of 0.95. What is left over is
// inserted by the caller's thread alone, which may move entries anywhere.
//
// No thread waits for another. Each makes all keys itself, and hashes them: that is less than a
// third of an insert's time when the table is in memory, and needs no room for keys.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/table/flow_table.h"

namespace roost {

struct BulkLoad {
  uint64_t count = 0;
  unsigned threads = 1;
  TickCount timeout = kTimeoutTicksMax;
};

namespace detail {

// One thread's part.
template <class Table, class Key, class Value>
class BulkLoader {
  using Core = std::remove_reference_t<decltype(std::declval<Table&>().core())>;

 public:
  static constexpr size_t kBatch = 256;

  // Of buckets from `first` to before `end`.
  BulkLoader(Table& table, uint64_t first, uint64_t end)
      : table_(&table), first_(first), end_(end), engine_(table.core().part(state_)) {}

  template <class Generate>
  void run(const BulkLoad& load, Generate& generate) {
    std::vector<Key> keys(kBatch);
    std::vector<Value> values(kBatch);
    std::vector<Hash64> hashes(kBatch);
    for (uint64_t at = 0; at < load.count; at += kBatch) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(kBatch, load.count - at));
      generate(at, std::span(keys).first(count), std::span(values).first(count));
      const std::span<const Key> made(keys.data(), count);
      table_->hash_batch(made, hashes);
      fill(made, std::span<const Value>(values), hashes, load.timeout);
    }
  }

  [[nodiscard]] const TableState& state() const { return state_; }

  // Inserts what found no room at home; returns how much was refused.
  [[nodiscard]] uint64_t insert_left_over(TickCount timeout) {
    std::array<InsertOutcome, kBatch> outcomes;
    uint64_t inserted = 0;
    for (size_t at = 0; at < left_keys_.size(); at += kBatch) {
      const size_t count = std::min(kBatch, left_keys_.size() - at);
      inserted += table_->insert(std::span<const Key>(left_keys_).subspan(at, count),
                                 std::span<const Value>(left_values_).subspan(at, count), outcomes,
                                 timeout);
    }
    return left_keys_.size() - inserted;
  }

 private:
  void fill(std::span<const Key> keys, std::span<const Value> values,
            std::span<const Hash64> hashes, TickCount timeout) {
    const auto is_mine = [&](size_t lane) {
      const auto bucket = static_cast<uint64_t>(engine_.map().primary(hashes[lane]));
      return bucket >= first_ && bucket < end_;
    };
    // Whose a key is, no processor can predict: they are told apart without a branch.
    std::array<size_t, kBatch> mine;
    size_t count = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      mine[count] = lane;
      count += is_mine(lane) ? 1U : 0U;
    }
    for (const size_t lane : std::span(mine).first(count))
      engine_.placement().prefetch_lines(PrefetchHint::kT0, hashes[lane]);
    for (const size_t lane : std::span(mine).first(count)) {
      const auto* value = reinterpret_cast<const std::byte*>(&values[lane]);
      if (!std::as_const(*table_).core().insert_at_home(engine_, bytes_of_key(&keys[lane]),
                                                        hashes[lane], value, timeout)) {
        left_keys_.push_back(keys[lane]);
        left_values_.push_back(values[lane]);
      }
    }
  }

  Table* table_;
  uint64_t first_;
  uint64_t end_;
  TableState state_{};
  typename Core::EngineType engine_;
  std::vector<Key> left_keys_;
  std::vector<Value> left_values_;
};

}  // namespace detail

// Inserts entries 0 to load.count - 1, as if one by one in this order; returns how many were
// refused. generate(first, keys, values) writes those from `first` on; it is called by several
// threads, with all entries by each. The table must be empty, and nobody else may use it
// meanwhile. Memory beside the table: for a tenth of the entries.
template <class Shared, class Generate>
Result<uint64_t> bulk_load(Shared& shared, const BulkLoad& load, Generate&& generate) {
  using Loader = detail::BulkLoader<typename Shared::Table, typename Shared::KeyType,
                                    typename Shared::ValueType>;
  const auto writer = shared.write();
  if (writer->size() != 0)
    return Error{"a bulk load fills an empty table; clear it first, or insert the entries"};
  const uint64_t bucket_count = writer->core().engine().map().bucket_count();
  const unsigned thread_count = std::max(load.threads, 1U);
  std::vector<std::unique_ptr<Loader>> loaders;
  for (unsigned i = 0; i < thread_count; ++i) {
    const uint64_t first = bucket_count / thread_count * i;
    const bool is_last = i + 1 == thread_count;
    loaders.push_back(std::make_unique<Loader>(
        *writer, first, is_last ? bucket_count : first + bucket_count / thread_count));
  }
  std::vector<std::thread> threads;
  for (const auto& loader : loaders)
    threads.emplace_back([&load, &generate, &loader] { loader->run(load, generate); });
  for (std::thread& thread : threads) thread.join();
  uint64_t refused = 0;
  for (const auto& loader : loaders) writer->core().add(loader->state());
  for (const auto& loader : loaders) refused += loader->insert_left_over(load.timeout);
  return refused;
}

}  // namespace roost

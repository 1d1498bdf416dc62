// FlowTable as an index: what records beside a table cost on ours, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lab/store/index.h"
#include "lab/store/numbered_keys.h"
#include "roost/conntrack/reply_table.h"
#include "roost/table/cursor.h"
#include "roost/table/flow_table.h"

namespace roost::lab {

struct SplitPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
};

template <class KeyT, class Policies = DefaultPolicies>
class FlowTableIndex final : public Index<KeyT> {
 public:
  using Key = KeyT;

  static Result<std::unique_ptr<FlowTableIndex>> create(const TableConfig& config) {
    TableConfig of_layout = config;
    of_layout.capacity = conntrack::slots_for<Table>(config.entries_max);
    Result<Table> table = Table::create(of_layout);
    if (!table) return table.error();
    auto numbers = NumberedKeys<Key>::create(config.entries_max, {.pages = config.pages});
    if (!numbers) return numbers.error();
    return std::unique_ptr<FlowTableIndex>(
        new FlowTableIndex(std::move(table).value(), std::move(numbers).value()));
  }

  size_t lookup(std::span<const Key> keys, RecordArray records, std::span<uint32_t> indices,
                HitWords hits) override {
    return table_.lookup_records(keys, records, indices, hits);
  }

  std::optional<uint32_t> insert(const Key& key) override {
    if (!numbers_.has_free()) {
      const uint32_t* index = table_.find(key);
      return index == nullptr ? std::nullopt : std::optional(*index);
    }
    uint32_t index = numbers_.next();
    const InsertOutcome outcome = table_.upsert(key, index);
    if (is_refusal(outcome)) return {};
    if (outcome == InsertOutcome::kInserted) numbers_.take(key);
    return index;
  }

  std::optional<uint32_t> erase(const Key& key) override {
    const uint32_t* found = table_.find(key);
    if (found == nullptr) return {};
    const uint32_t index = *found;
    table_.erase(key);
    numbers_.give_back(index);
    return index;
  }

  void erase_all(std::span<const Key> keys) override {
    for (const Key& key : keys) static_cast<void>(table_.prefetch(key));
    for (const Key& key : keys) erase(key);
  }

  size_t next_indices(std::span<uint32_t> indices) override {
    size_t count = 0;
    const bool has_more =
        table_.scan(walk_at_, {table_.bucket_count(), indices.size()},
                    [&](const Key&, const uint32_t& index) { indices[count++] = index; });
    if (!has_more) walk_at_ = {};
    return count;
  }
  void ask_for_key(uint32_t index) const override { numbers_.ask_for(index); }
  [[nodiscard]] Key key_at(uint32_t index) const override { return numbers_.key_at(index); }
  [[nodiscard]] uint64_t index_count() const override { return numbers_.count(); }
  [[nodiscard]] uint64_t size() const override { return table_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const override {
    return table_.memory_bytes() + numbers_.memory_bytes();
  }

 private:
  using Table = FlowTable<Key, uint32_t, Policies>;

  FlowTableIndex(Table table, NumberedKeys<Key> numbers)
      : table_(std::move(table)), numbers_(std::move(numbers)) {}

  Table table_;
  NumberedKeys<Key> numbers_;
  Cursor walk_at_;
};

}  // namespace roost::lab

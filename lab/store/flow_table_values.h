// FlowTable with small values beside its keys.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "lab/store/plain_table.h"
#include "roost/conntrack/reply_table.h"
#include "roost/table/flow_table.h"

namespace roost::lab {

template <class KeyT>
class FlowTableValues final : public SmallValues<KeyT> {
 public:
  using Key = KeyT;

  static Result<std::unique_ptr<FlowTableValues>> create(const TableConfig& config) {
    TableConfig of_layout = config;
    of_layout.capacity = conntrack::slots_for<Table>(config.entries_max);
    Result<Table> table = Table::create(of_layout);
    if (!table) return table.error();
    return std::unique_ptr<FlowTableValues>(new FlowTableValues(std::move(table).value()));
  }

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    return table_.lookup(keys, out, hits);
  }
  bool insert(const Key& key, uint32_t value) override {
    return !is_refusal(table_.insert(key, value));
  }
  bool erase(const Key& key) override { return table_.erase(key); }

  [[nodiscard]] uint64_t size() const override { return table_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const override { return table_.memory_bytes(); }

 private:
  using Table = FlowTable<Key, uint32_t>;

  explicit FlowTableValues(Table table) : table_(std::move(table)) {}

  Table table_;
};

}  // namespace roost::lab

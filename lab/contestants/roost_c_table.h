// Our flow table by its C interface: what a call through it costs beside the C++ one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "capi/roost.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

class RoostCTable {
 public:
  static constexpr std::string_view kName = "roost_c_table";
  using Answer = Value;

  static Result<RoostCTable> create(uint64_t slots, PageKind pages) {
    roost_config config;
    roost_config_init(&config, sizeof(config));
    config.key_bytes = sizeof(Key);
    config.value_bytes = sizeof(Value);
    config.capacity = slots;
    config.hash_seed = 1;
    config.has_hash_seed = true;
    config.pages = pages == PageKind::kHuge2MiB ? ROOST_PAGES_2MIB : ROOST_PAGES_4KIB;
    roost_table* table = nullptr;
    std::array<char, 256> error{};
    if (roost_table_create(&config, &table, error.data(), error.size()) != ROOST_OK)
      return Error{error.data()};
    return RoostCTable(table);
  }

  bool insert(const Key& key, const Value& value) {
    return insert(std::span(&key, 1), std::span(&value, 1)) != 0;
  }
  size_t insert(std::span<const Key> keys, std::span<const Value> values) {
    const roost_keys batch = batch_of(keys);
    std::array<uint8_t, kLanesMax> outcomes;
    return roost_table_insert(table_.get(), &batch, values.data(), nullptr, outcomes.data());
  }
  bool erase(const Key& key) {
    const roost_keys keys = one(key);
    uint64_t erased = 0;
    return roost_table_erase(table_.get(), &keys, &erased) != 0;
  }
  void clear() { roost_table_clear(table_.get()); }
  void lookup(std::span<const Key> keys, std::span<Value> answers, HitWords hits) {
    const roost_keys batch = batch_of(keys);
    roost_table_lookup(table_.get(), &batch, answers.data(), hits.words().data());
  }
  static bool is_answer(const Value& answer, const Value& value) { return answer == value; }
  static uint64_t answer_word(const Value& answer) { return answer.words[0]; }
  [[nodiscard]] const void* entry_address(const Key& key) {
    const roost_keys keys = one(key);
    void* value = nullptr;
    uint64_t hit = 0;
    roost_table_find(table_.get(), &keys, &value, &hit);
    return value;
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    roost_info info{};
    info.size = sizeof(info);
    roost_table_info(table_.get(), &info);
    return info.mapped_bytes;
  }
  // A bucket's line, then an entry's.
  [[nodiscard]] FewestLines fewest_lines() const {
    roost_info info{};
    info.size = sizeof(info);
    roost_table_info(table_.get(), &info);
    return {.first_bytes = info.capacity * 8, .second_bytes = info.capacity * 32};
  }

 private:
  struct Destroy {
    void operator()(roost_table* table) const { roost_table_destroy(table); }
  };

  explicit RoostCTable(roost_table* table) : table_(table) {}

  static roost_keys batch_of(std::span<const Key> keys) {
    roost_keys batch{};
    batch.keys = keys.data();
    batch.count = keys.size();
    return batch;
  }
  static roost_keys one(const Key& key) { return batch_of(std::span(&key, 1)); }

  std::unique_ptr<roost_table, Destroy> table_;
};

}  // namespace roost::lab

// The C interface in the clothes of FlowTable, so that the mirrored operations of tests/table drive
// it: every form of keys, answer and change goes through roost.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "capi/roost.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/table/flow_table.h"

namespace roost {

struct CTableDeleter {
  void operator()(roost_table* table) const { roost_table_destroy(table); }
};
using CTableHandle = std::unique_ptr<roost_table, CTableDeleter>;

// A configuration with what tests always set. The layout is the split one, unless they say so.
inline roost_config c_config(uint32_t key_bytes, uint32_t value_bytes, uint64_t capacity) {
  roost_config config;
  roost_config_init(&config, sizeof(config));
  config.key_bytes = key_bytes;
  config.value_bytes = value_bytes;
  config.capacity = capacity;
  config.pages = ROOST_PAGES_4KIB;
  config.layout = ROOST_LAYOUT_SPLIT;
  return config;
}

inline Result<CTableHandle> c_create(const roost_config* config) {
  roost_table* table = nullptr;
  std::string error(300, '#');
  const roost_status status = roost_table_create(config, &table, error.data(), error.size());
  if (status != ROOST_OK) return Error{error.c_str()};
  return CTableHandle(table);
}
inline Result<CTableHandle> c_create(const roost_config& config) { return c_create(&config); }

template <class Key, class Value, class Policies>
class CTable {
  using Sink = typename Policies::Sink;
  static constexpr size_t kValueBytes = std::is_empty_v<Value> ? 0 : sizeof(Value);

 public:
  static Result<CTable> create(const TableConfig& config, Sink sink) {
    CTable made(std::move(sink));
    roost_config c = c_config(sizeof(Key), kValueBytes, config.capacity);
    c.layout = ROOST_LAYOUT_AUTOMATIC;
    c.entries_max = config.entries_max;
    c.expires = Policies::Expiry::kEnabled;
    if (c.expires) {
      c.on_expiry = hand_over;
      c.on_expiry_context = made.sink_.get();
    }
    c.has_hash_seed = config.hash_seed.has_value();
    c.hash_seed = config.hash_seed.value_or(0);
    if (config.isa) c.kernel = isa_name(*config.isa).data();
    Result<CTableHandle> table = c_create(c);
    if (!table) return table.error();
    made.table_ = std::move(table).value();
    return made;
  }

  template <class Keys>
  size_t lookup(const Keys& keys, std::vector<Value>& out, HitWords hits) {
    return answered(keys, hits, [&](const roost_keys& lanes, uint64_t* words) {
      return roost_table_lookup(table_.get(), &lanes, values_of(out), words);
    });
  }
  template <class Keys>
  size_t lookup_refresh(const Keys& keys, TickCount timeout, std::vector<Value>& out,
                        HitWords hits) {
    const roost_timeouts timeouts = {nullptr, timeout};
    return answered(keys, hits, [&](const roost_keys& lanes, uint64_t* words) {
      return roost_table_lookup_refresh(table_.get(), &lanes, &timeouts, values_of(out), words);
    });
  }
  size_t find(const std::vector<Key>& keys, std::vector<Value*>& out, HitWords hits) {
    return answered(keys, hits, [&](const roost_keys& lanes, uint64_t* words) {
      return roost_table_find(table_.get(), &lanes, reinterpret_cast<void**>(out.data()), words);
    });
  }
  Value* find(const Key& key) {
    std::vector<Value*> found(1, nullptr);
    HitArray<1> hits;
    find(std::vector<Key>{key}, found, hits);
    return found[0];
  }
  void refresh(const Value* found, TickCount timeout) {
    roost_table_refresh(table_.get(), found, timeout);
  }

  roost_flight start(std::span<const Key> keys) const {
    roost_flight flight;
    const roost_keys lanes = keys_of(keys);
    roost_table_start(table_.get(), &lanes, &flight);
    return flight;
  }
  size_t lookup_and_start(roost_flight& flight, std::vector<Value>& out, HitWords hits,
                          std::span<const Key> next_keys) {
    const roost_keys next = keys_of(next_keys);
    std::vector<uint64_t> words(hit_word_count(out.size()), ~uint64_t{0});
    const size_t count =
        roost_table_lookup_and_start(table_.get(), &flight, values_of(out), words.data(), &next);
    copy_hits(words, out.size(), hits);
    return count;
  }
  size_t lookup(const roost_flight& flight, std::vector<Value>& out, HitWords hits) {
    roost_keys lanes{};
    lanes.flight = &flight;
    std::vector<uint64_t> words(hit_word_count(out.size()), ~uint64_t{0});
    const size_t count = roost_table_lookup(table_.get(), &lanes, values_of(out), words.data());
    copy_hits(words, out.size(), hits);
    return count;
  }
  void hash_batch(const std::vector<Key>& keys, std::vector<Hash64>& hashes) const {
    const roost_keys lanes = keys_of(keys);
    std::vector<uint64_t> words(keys.size());
    roost_table_hash(table_.get(), &lanes, words.data());
    std::ranges::transform(words, hashes.begin(), [](uint64_t word) { return Hash64{word}; });
  }

  size_t insert(const std::vector<Key>& keys, const std::vector<Value>& values,
                std::vector<InsertOutcome>& outcomes, Timeouts timeouts) {
    const roost_keys lanes = keys_of(keys);
    const std::vector<uint32_t> each = each_of(timeouts, keys.size());
    const roost_timeouts c_timeouts = {each.data(), 0};
    const void* bytes = kValueBytes == 0 ? nullptr : values.data();
    return roost_table_insert(table_.get(), &lanes, bytes, &c_timeouts,
                              reinterpret_cast<uint8_t*>(outcomes.data()));
  }
  size_t upsert(const std::vector<Key>& keys, std::vector<Value>& values,
                std::vector<InsertOutcome>& outcomes, Timeouts timeouts) {
    const roost_keys lanes = keys_of(keys);
    const std::vector<uint32_t> each = each_of(timeouts, keys.size());
    const roost_timeouts c_timeouts = {each.data(), 0};
    return roost_table_upsert(table_.get(), &lanes, values_of(values), &c_timeouts,
                              reinterpret_cast<uint8_t*>(outcomes.data()));
  }
  size_t erase(const std::vector<Key>& keys, HitWords erased) {
    return answered(keys, erased, [&](const roost_keys& lanes, uint64_t* words) {
      return roost_table_erase(table_.get(), &lanes, words);
    });
  }
  void clear() { roost_table_clear(table_.get()); }

  // By the cursor, a few entries a call.
  template <class Visit>
  void for_each(Visit&& visit) {
    constexpr size_t kMax = 7;
    std::vector<Key> keys(kMax);
    std::vector<Value> values(kMax);
    roost_cursor cursor = {0};
    while (const size_t count =
               roost_table_scan(table_.get(), &cursor, keys.data(), values_of(values), kMax)) {
      for (size_t i = 0; i < count; ++i) visit(keys[i], values[i]);
    }
  }

  AdvanceOutcome advance(Tick now) {
    switch (roost_table_advance(table_.get(), now.count)) {
      case ROOST_OK:
        return AdvanceOutcome::kAdvanced;
      case ROOST_TIME_BACKWARDS:
        return AdvanceOutcome::kBackwards;
      default:
        return AdvanceOutcome::kScanOverdue;
    }
  }
  uint64_t maintain(uint64_t budget) { return roost_table_maintain(table_.get(), budget); }
  [[nodiscard]] Tick scan_deadline() const { return {roost_table_scan_deadline(table_.get())}; }
  [[nodiscard]] uint64_t bucket_count() const { return info().bucket_count; }

  [[nodiscard]] TableStats stats() const {
    roost_stats c;
    c.size = sizeof(c);
    roost_table_stats(table_.get(), &c);
    TableStats stats;
    stats.size = c.entry_count;
    stats.created = c.created;
    stats.erased = c.erased;
    stats.handed_over = c.handed_over;
    stats.refusals = c.refusals;
    for (const Isa isa : isas_built())
      if (isa_name(isa) == info().kernel) stats.lookups.last_kernel = isa;
    return stats;
  }

  std::optional<Violation> audit() {
    violation_.size = sizeof(violation_);
    if (roost_table_audit(table_.get(), &violation_) == ROOST_OK) return std::nullopt;
    return Violation{violation_.invariant, BucketIndex{violation_.bucket}, violation_.slot,
                     violation_.text};
  }

 private:
  explicit CTable(Sink sink) : sink_(std::make_unique<Sink>(std::move(sink))) {}

  static void hand_over(void* sink, const void* key, const void* value) {
    Key typed_key;
    Value typed_value;
    std::memcpy(&typed_key, key, sizeof(Key));
    if constexpr (kValueBytes != 0) std::memcpy(&typed_value, value, kValueBytes);
    (*static_cast<Sink*>(sink))(typed_key, typed_value);
  }

  static roost_keys keys_of(std::span<const Key> keys) {
    roost_keys lanes{};
    lanes.keys = keys.data();
    lanes.count = keys.size();
    return lanes;
  }
  static roost_keys keys_of(const std::vector<const Key*>& pointers) {
    roost_keys lanes{};
    lanes.pointers = reinterpret_cast<const void* const*>(pointers.data());
    lanes.count = pointers.size();
    return lanes;
  }
  static roost_keys keys_of(const HashedKeys<std::span<const Key>>& hashed) {
    roost_keys lanes = keys_of(hashed.keys);
    lanes.hashes = reinterpret_cast<const uint64_t*>(hashed.hashes.data());
    return lanes;
  }

  static void* values_of(std::vector<Value>& values) {
    return kValueBytes == 0 ? nullptr : values.data();
  }
  static std::vector<uint32_t> each_of(Timeouts timeouts, size_t count) {
    std::vector<uint32_t> each(count);
    for (size_t lane = 0; lane < count; ++lane) each[lane] = timeouts[lane];
    return each;
  }

  // Hit words come full of ones, so that a call that leaves some as they were shows.
  template <class Keys, class Call>
  size_t answered(const Keys& keys, HitWords hits, Call&& call) {
    const roost_keys lanes = keys_of(keys);
    std::vector<uint64_t> words(hit_word_count(lanes.count), ~uint64_t{0});
    const size_t count = call(lanes, words.data());
    copy_hits(words, lanes.count, hits);
    return count;
  }
  static void copy_hits(const std::vector<uint64_t>& words, size_t count, HitWords hits) {
    hits.clear(count);
    for (size_t lane = 0; lane < 64 * words.size(); ++lane)
      if (roost_is_hit(words.data(), lane)) hits.set(lane);
  }

  [[nodiscard]] roost_info info() const {
    roost_info info;
    info.size = sizeof(info);
    roost_table_info(table_.get(), &info);
    return info;
  }

  std::unique_ptr<Sink> sink_;
  CTableHandle table_;
  roost_violation violation_{};
};

}  // namespace roost

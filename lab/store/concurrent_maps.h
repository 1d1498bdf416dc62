// Tables that are made for several threads: ours with shared access, libcuckoo, TBB's.
#pragma once

#include <tbb/concurrent_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <libcuckoo/cuckoohash_map.hh>
#include <memory>
#include <span>
#include <utility>

#include "lab/contestants/map_contestant.h"
#include "lab/contestants/tbb_concurrent_hash_map.h"
#include "lab/store/common_values.h"
#include "roost/concurrent/shared_table.h"
#include "roost/conntrack/reply_table.h"

namespace roost::lab {

// A view of our table: a reader; whoever changes it waits for the one who does so now.
template <class KeyT>
class SharedTableValues final : public SmallValues<KeyT> {
  using Shared = SharedTable<KeyT, uint32_t>;

 public:
  using Key = KeyT;

  static Result<CommonViews> create(const TableConfig& config, size_t threads) {
    TableConfig of_layout = config;
    of_layout.capacity = conntrack::slots_for<typename Shared::Table>(config.entries_max);
    Result<Shared> table = Shared::create(of_layout);
    if (!table) return table.error();
    auto held = std::make_shared<Shared>(std::move(table).value());
    return views_of<SharedTableValues>(held, threads);
  }

  explicit SharedTableValues(std::shared_ptr<Shared> held)
      : held_(std::move(held)), reader_(held_->reader()) {}

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    return reader_.lookup(keys, out, hits);
  }
  bool insert(const Key& key, uint32_t value) override {
    return !is_refusal(held_->write()->insert(key, value));
  }
  bool erase(const Key& key) override { return held_->write()->erase(key); }
  [[nodiscard]] uint64_t size() const override { return held_->write()->size(); }
  [[nodiscard]] uint64_t memory_bytes() const override { return held_->write()->memory_bytes(); }

 private:
  std::shared_ptr<Shared> held_;
  typename Shared::Reader reader_;
};

// A view of a map whose functions any thread may call at any time. `Map` says how these are called.
template <class Map>
class ConcurrentMapValues final : public SmallValues<typename Map::Key> {
 public:
  using Key = typename Map::Key;

  static Result<CommonViews> create(const TableConfig& config, size_t threads) {
    auto held = std::make_shared<Map>(config.entries_max);
    return views_of<ConcurrentMapValues>(held, threads);
  }

  explicit ConcurrentMapValues(std::shared_ptr<Map> held) : held_(std::move(held)) {}

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    hits.clear(keys.size());
    size_t found = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (!held_->find(*keys[lane], out[lane])) continue;
      hits.set(lane);
      ++found;
    }
    return found;
  }
  bool insert(const Key& key, uint32_t value) override {
    held_->insert(key, value);
    return true;
  }
  bool erase(const Key& key) override { return held_->erase(key); }
  [[nodiscard]] uint64_t size() const override { return held_->size(); }
  [[nodiscard]] uint64_t memory_bytes() const override { return 0; }  // not asked of them

 private:
  std::shared_ptr<Map> held_;
};

template <class KeyT>
class LibcuckooValues {
 public:
  using Key = KeyT;

  explicit LibcuckooValues(uint64_t entries) : map_(entries * 10 / 9) {}
  bool find(const Key& key, uint32_t& value) const { return map_.find(key, value); }
  void insert(const Key& key, uint32_t value) { map_.insert_or_assign(key, value); }
  bool erase(const Key& key) { return map_.erase(key); }
  [[nodiscard]] uint64_t size() const { return map_.size(); }

 private:
  libcuckoo::cuckoohash_map<Key, uint32_t, KeyHash<Key>> map_;
};

template <class KeyT>
class TbbValues {
 public:
  using Key = KeyT;

  explicit TbbValues(uint64_t entries) { map_.rehash(entries); }
  bool find(const Key& key, uint32_t& value) const {
    typename Map::const_accessor found;
    if (!map_.find(found, key)) return false;
    value = found->second;
    return true;
  }
  void insert(const Key& key, uint32_t value) {
    typename Map::accessor place;
    map_.insert(place, key);
    place->second = value;
  }
  bool erase(const Key& key) { return map_.erase(key); }
  [[nodiscard]] uint64_t size() const { return map_.size(); }

 private:
  using Map = tbb::concurrent_hash_map<Key, uint32_t, TbbHash<Key>>;

  Map map_;
};

}  // namespace roost::lab

// boost::unordered_flat_map with plain find: the fast general-purpose map, one key at a time.
//
// Its memory comes from an allocator over the same pages as everyone's. The hash is the library's
// own default one, which is of high quality, so the map is told not to mix it again.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/hash/keyed_hash.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// The arenas behind an allocator and its copies, one an allocation.
class ArenaPool {
 public:
  explicit ArenaPool(PageKind pages) : pages_(pages) {}

  void* take(uint64_t bytes) {
    Result<Arena> arena = Arena::map(bytes, {.pages = pages_});
    if (!arena) throw std::bad_alloc();  // the only way to tell a standard container
    void* data = arena.value().data();
    arenas_.emplace(data, std::move(arena).value());
    return data;
  }
  void give_back(void* data) { arenas_.erase(data); }

  [[nodiscard]] uint64_t bytes() const {
    uint64_t sum = 0;
    for (const auto& [data, arena] : arenas_) sum += arena.bytes();
    return sum;
  }

 private:
  PageKind pages_;
  std::map<void*, Arena> arenas_;
};

template <class T>
class ArenaAllocator {
 public:
  using value_type = T;

  explicit ArenaAllocator(std::shared_ptr<ArenaPool> pool) : pool_(std::move(pool)) {}
  template <class U>
  ArenaAllocator(const ArenaAllocator<U>& other) : pool_(other.pool()) {}

  T* allocate(size_t count) { return static_cast<T*>(pool_->take(count * sizeof(T))); }
  void deallocate(T* data, size_t) { pool_->give_back(data); }
  [[nodiscard]] const std::shared_ptr<ArenaPool>& pool() const { return pool_; }

  friend bool operator==(const ArenaAllocator& a, const ArenaAllocator& b) {
    return a.pool_ == b.pool_;
  }

 private:
  std::shared_ptr<ArenaPool> pool_;
};

struct FlatMapHash {
  using is_avalanching = void;

  size_t operator()(const Key& key) const { return hash.hash<sizeof(Key)>(&key).bits; }

  KeyedHash hash{1};
};

class BoostFlatMap {
 public:
  static constexpr std::string_view kName = "boost_flat_map";
  using Answer = Value;

  static Result<BoostFlatMap> create(uint64_t slots, PageKind pages) {
    try {
      BoostFlatMap map(pages);
      // Room for the same load as everyone's: the map rounds up to what its own load limit asks
      // for.
      map.map_.reserve(slots / 10 * 8);
      return map;
    } catch (const std::bad_alloc&) {
      return Error{"no memory for boost::unordered_flat_map on the pages asked for"};
    }
  }

  bool insert(const Key& key, const Value& value) {
    map_.insert_or_assign(key, value);
    return true;
  }

  void lookup(std::span<const Key> keys, std::span<Value> answers, HitWords hits) {
    hits.clear(keys.size());
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const auto found = map_.find(keys[lane]);
      if (found == map_.end()) continue;
      answers[lane] = found->second;
      hits.set(lane);
    }
  }

  static bool is_answer(const Value& answer, const Value& value) { return answer == value; }
  static uint64_t answer_word(const Value& answer) { return answer.words[0]; }
  [[nodiscard]] const void* entry_address(const Key& key) const { return &*map_.find(key); }
  [[nodiscard]] uint64_t memory_bytes() const { return map_.get_allocator().pool()->bytes(); }
  // A line of the 16-byte groups, one for 15 slots, then an entry's.
  [[nodiscard]] FewestLines fewest_lines() const {
    const uint64_t slots = map_.bucket_count();
    return {.first_bytes = slots / 15 * 16, .second_bytes = slots * (sizeof(Key) + sizeof(Value))};
  }

 private:
  using Allocator = ArenaAllocator<std::pair<const Key, Value>>;
  using Map = boost::unordered_flat_map<Key, Value, FlatMapHash, std::equal_to<Key>, Allocator>;

  explicit BoostFlatMap(PageKind pages) : map_(Allocator(std::make_shared<ArenaPool>(pages))) {}

  Map map_;
};

}  // namespace roost::lab

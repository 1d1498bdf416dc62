// What the maps have in common: one key at a time, memory on the pages asked for, and the library's
// keyed hash for all of them.
//
// A map's own file says how it is made and asked, in traits:
//
//   struct MyMap : StandardMap {
//     static constexpr std::string_view kName = "my_map";
//     template <class Key, class Value>
//     using Map = ...;                        // with KeyHash<Key> and MapAllocator<Key, Value>
//     static FewestLines fewest_lines(const auto& map);
//   };
//
// and `MapContestant<MyMap>` is the contestant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lab/contestants/arena_memory.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/hash/keyed_hash.h"
#include "roost/memory/arena.h"
#include "roost/table/key_source.h"

namespace roost::lab {

// All 64 bits are good, so a map that can be told so need not mix them again.
template <class Key>
struct KeyHash {
  using is_avalanching = void;

  size_t operator()(const Key& key) const {
    const auto bytes = bytes_of_key(&key);
    return hash.template hash<padded_key_bytes(sizeof(Key))>(static_cast<const std::byte*>(bytes))
        .bits;
  }

  KeyedHash hash{1};
};

template <class Key, class Value>
using MapAllocator = ArenaAllocator<std::pair<const Key, Value>>;

// Traits of maps with the standard's interface.
struct StandardMap {
  // An empty map with room for so many entries, by the map's own limit of load.
  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    auto map = std::make_unique<Map>(allocator);
    map->reserve(entry_count);
    return map;
  }

  static void insert(auto& map, const auto& key, const auto& value) {
    map.insert_or_assign(key, value);
  }
  // What a key has, which is `value` if it had nothing, and whether it had nothing.
  static auto find_or_insert(auto& map, const auto& key, const auto& value) {
    const auto [at, is_new] = map.try_emplace(key, value);
    return std::pair(at->second, is_new);
  }
  static bool erase(auto& map, const auto& key) { return map.erase(key) != 0; }
  // Erases a key and returns what it had; nothing if it was not there.
  static auto take(auto& map, const auto& key) {
    const auto at = map.find(key);
    std::optional<std::remove_cvref_t<decltype(at->second)>> value;
    if (at == map.end()) return value;
    value = at->second;
    map.erase(at);
    return value;
  }
  // With room for as many entries as before.
  static void clear(auto& map, uint64_t /*entry_count*/) { map.clear(); }
  // Where the value of a key is; nullptr on a miss.
  static const auto* find(const auto& map, const auto& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }
  // Goes on through a map in its own order, from the entry of key `at`, or from the beginning: the
  // values of as many entries as there is room for. Then `at` is the next one's key; nothing at the
  // end. Returns how many.
  static size_t walk(const auto& map, auto& at, auto values) {
    auto entry = at ? map.find(*at) : map.begin();
    size_t count = 0;
    for (; entry != map.end() && count < values.size(); ++entry) values[count++] = entry->second;
    at.reset();
    if (entry != map.end()) at = entry->first;
    return count;
  }
};

// Traits of a map that grows at a load of its own choice, filled up to 0.95 instead.
template <class Traits>
struct FilledTo95 : Traits {
  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    auto map = std::make_unique<Map>(allocator);
    map->max_load_factor(0.95F);
    map->reserve(entry_count);
    return map;
  }
};

template <class Traits, class KeyT = Key, class ValueT = Value>
class MapContestant {
 public:
  using KeyType = KeyT;
  using ValueType = ValueT;
  using Answer = ValueT;
  static constexpr bool kOneByOne = true;
  static constexpr std::string_view kName = Traits::kName;

  static Result<MapContestant> create(uint64_t slots, PageKind pages) {
    try {
      // Room for the load of most measurements; filled further, a map grows as it likes.
      return MapContestant(slots / 10 * 8, pages);
    } catch (const std::exception&) {
      return Error{"no memory for " + std::string(kName) + " on the pages asked for"};
    }
  }

  // The map may have grown; false when it wants to and there is no memory.
  bool insert(const KeyT& key, const ValueT& value) {
    try {
      Traits::insert(*map_, key, value);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void lookup(std::span<const KeyT> keys, std::span<ValueT> answers, HitWords hits) {
    for (size_t first = 0; first < keys.size(); first += 32) {
      const size_t lane_count = std::min<size_t>(32, keys.size() - first);
      uint32_t found = 0;
      for (size_t lane = 0; lane < lane_count; ++lane) {
        const ValueT* value = Traits::find(*map_, keys[first + lane]);
        if (value == nullptr) continue;
        answers[first + lane] = *value;
        found |= uint32_t{1} << lane;
      }
      hits.write_group(first, found);
    }
  }

  bool erase(const KeyT& key) { return Traits::erase(*map_, key); }
  void clear() { Traits::clear(*map_, entry_count_); }

  static bool is_answer(const ValueT& answer, const ValueT& value) { return answer == value; }
  static uint64_t answer_word(const ValueT& answer) { return word_of(answer); }
  [[nodiscard]] const void* entry_address(const KeyT& key) const {
    return Traits::find(*map_, key);
  }
  [[nodiscard]] uint64_t memory_bytes() const { return memory_->bytes(); }
  [[nodiscard]] FewestLines fewest_lines() const { return Traits::fewest_lines(*map_); }

 private:
  using Map = typename Traits::template Map<KeyT, ValueT>;

  MapContestant(uint64_t entry_count, PageKind pages)
      : memory_(std::make_unique<ArenaMemory>(pages)),
        map_(Traits::template make<Map>(entry_count, MapAllocator<KeyT, ValueT>(*memory_))),
        entry_count_(entry_count) {}

  std::unique_ptr<ArenaMemory> memory_;
  std::unique_ptr<Map> map_;
  uint64_t entry_count_;
};

}  // namespace roost::lab

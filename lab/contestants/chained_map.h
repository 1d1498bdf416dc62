// Chains as FastClick has them: an array of lists, new entries at the head of theirs, nodes from a
// pool (CT-02). As many chains as the next power of two above the entries; it does not grow.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

// One thread uses it.
template <class KeyT, class ValueT, class Hash, class Allocator>
class ChainedTable {
 public:
  using Key = KeyT;
  using Value = ValueT;

  ChainedTable(uint64_t entry_count, const Allocator& allocator)
      : chains_(std::bit_ceil(std::max<uint64_t>(entry_count, 1)), nullptr, allocator),
        nodes_(allocator) {}
  ChainedTable(const ChainedTable&) = delete;
  ChainedTable& operator=(const ChainedTable&) = delete;
  ~ChainedTable() { clear(); }

  [[nodiscard]] const Value* find(const Key& key) const {
    for (const Node* node = chain_of(key); node != nullptr; node = node->next)
      if (node->key == key) return &node->value;
    return nullptr;
  }
  // What the key has, and whether it had nothing before.
  std::pair<Value*, bool> find_or_insert(const Key& key, const Value& value) {
    Node*& chain = chain_of(key);
    for (Node* node = chain; node != nullptr; node = node->next)
      if (node->key == key) return {&node->value, false};
    Node* node = NodeTraits::allocate(nodes_, 1);
    NodeTraits::construct(nodes_, node, Node{chain, key, value});
    chain = node;
    ++size_;
    return {&node->value, true};
  }
  std::optional<Value> take(const Key& key) {
    for (Node** link = &chain_of(key); *link != nullptr; link = &(*link)->next) {
      Node* node = *link;
      if (!(node->key == key)) continue;
      const Value value = node->value;
      *link = node->next;
      NodeTraits::deallocate(nodes_, node, 1);
      --size_;
      return value;
    }
    return {};
  }
  // See StandardMap::walk. A chain's later entries come last, so one that is there all along is
  // met.
  size_t walk(std::optional<Key>& at, std::span<Value> values) const {
    size_t chain = at ? chain_number(*at) : 0;
    const Node* node = chains_[chain];
    while (at && node != nullptr && !(node->key == *at)) node = node->next;
    size_t count = 0;
    for (;; node = node->next) {
      while (node == nullptr && ++chain < chains_.size()) node = chains_[chain];
      at.reset();
      if (node == nullptr) return count;
      at = node->key;
      if (count == values.size()) return count;
      values[count++] = node->value;
    }
  }
  void clear() {
    for (Node*& chain : chains_)
      while (chain != nullptr) NodeTraits::deallocate(nodes_, std::exchange(chain, chain->next), 1);
    size_ = 0;
  }

  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] uint64_t chain_count() const { return chains_.size(); }

  struct Node {
    Node* next;
    Key key;
    Value value;
  };

 private:
  using NodeAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Node>;
  using NodeTraits = std::allocator_traits<NodeAllocator>;
  using LinkAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Node*>;

  [[nodiscard]] size_t chain_number(const Key& key) const {
    return hash_(key) & (chains_.size() - 1);
  }
  [[nodiscard]] Node*& chain_of(const Key& key) { return chains_[chain_number(key)]; }
  [[nodiscard]] const Node* chain_of(const Key& key) const { return chains_[chain_number(key)]; }

  std::vector<Node*, LinkAllocator> chains_;
  NodeAllocator nodes_;
  [[no_unique_address]] Hash hash_{};
  uint64_t size_ = 0;
};

struct ChainedMap {
  static constexpr std::string_view kName = "chained_map";
  template <class Key, class Value>
  using Map = ChainedTable<Key, Value, KeyHash<Key>, MapAllocator<Key, Value>>;

  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    return std::make_unique<Map>(entry_count, allocator);
  }
  static void insert(auto& map, const auto& key, const auto& value) {
    const auto [held, is_new] = map.find_or_insert(key, value);
    if (!is_new) *held = value;
  }
  static auto find_or_insert(auto& map, const auto& key, const auto& value) {
    const auto [held, is_new] = map.find_or_insert(key, value);
    return std::pair(*held, is_new);
  }
  static bool erase(auto& map, const auto& key) { return map.take(key).has_value(); }
  static auto take(auto& map, const auto& key) { return map.take(key); }
  static void clear(auto& map, uint64_t /*entry_count*/) { map.clear(); }
  static const auto* find(const auto& map, const auto& key) { return map.find(key); }
  static size_t walk(const auto& map, auto& at, auto values) { return map.walk(at, values); }
  // A line of the chains' heads, then a node's.
  template <class Map>
  static FewestLines fewest_lines(const Map& map) {
    return {.first_bytes = map.chain_count() * sizeof(void*),
            .second_bytes = map.size() * sizeof(typename Map::Node)};
  }
};

}  // namespace roost::lab

// FastClick's chains as threads share them: a lock of the table, one of each chain, one of each
// entry (CT-03, hierarchical).
//
// Whoever comes holds the table's lock as a reader, so that nobody makes it anew meanwhile; then
// the chain's, to read or to change it; and the entry's, to copy its value. Nodes come from a pool
// with a lock of its own.
#pragma once

#include <rte_rwlock.h>
#include <rte_spinlock.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <utility>
#include <vector>

#include "lab/contestants/map_contestant.h"
#include "lab/store/common_values.h"
#include "lab/store/locked_values.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// DPDK's reader-writer lock, with the names of the standard.
class RwLock {
 public:
  void lock() { rte_rwlock_write_lock(&lock_); }
  void unlock() { rte_rwlock_write_unlock(&lock_); }
  void lock_shared() { rte_rwlock_read_lock(&lock_); }
  void unlock_shared() { rte_rwlock_read_unlock(&lock_); }

 private:
  rte_rwlock_t lock_ = RTE_RWLOCK_INITIALIZER;
};

template <class KeyT>
class LockedChains final : public SmallValues<KeyT> {
 public:
  using Key = KeyT;

  static Result<CommonViews> create(const TableConfig& config, size_t threads) {
    const uint64_t chains = std::bit_ceil(std::max<uint64_t>(config.entries_max, 1));
    Result<Arena> chain_memory = Arena::map(chains * sizeof(Chain), {.pages = config.pages});
    if (!chain_memory) return chain_memory.error();
    Result<Arena> node_memory =
        Arena::map(config.entries_max * sizeof(Node), {.pages = config.pages});
    if (!node_memory) return node_memory.error();
    auto held = std::make_shared<Held>(std::move(chain_memory).value(),
                                       std::move(node_memory).value(), chains, config.entries_max);
    return views_of<LockedChains>(held, threads);
  }

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    hits.clear(keys.size());
    size_t found = 0;
    const std::shared_lock of_table(held_->lock);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      Chain& chain = held_->chain_of(*keys[lane]);
      const std::shared_lock of_chain(chain.lock);
      Node* node = find(chain, *keys[lane]);
      if (node == nullptr) continue;
      const std::scoped_lock of_entry(node->lock);
      out[lane] = node->value;
      hits.set(lane);
      ++found;
    }
    return found;
  }
  bool insert(const Key& key, uint32_t value) override {
    const std::shared_lock of_table(held_->lock);
    Chain& chain = held_->chain_of(key);
    const std::scoped_lock of_chain(chain.lock);
    if (Node* node = find(chain, key)) {
      const std::scoped_lock of_entry(node->lock);
      node->value = value;
      return true;
    }
    Node* node = held_->take();
    if (node == nullptr) return false;
    *node = {.next = chain.first, .key = key, .value = value};
    chain.first = node;
    return true;
  }
  bool erase(const Key& key) override {
    const std::shared_lock of_table(held_->lock);
    Chain& chain = held_->chain_of(key);
    const std::scoped_lock of_chain(chain.lock);
    for (Node** link = &chain.first; *link != nullptr; link = &(*link)->next) {
      if (!((*link)->key == key)) continue;
      held_->give_back(std::exchange(*link, (*link)->next));
      return true;
    }
    return false;
  }
  [[nodiscard]] uint64_t size() const override { return held_->size(); }
  [[nodiscard]] uint64_t memory_bytes() const override {
    return held_->chain_memory.bytes() + held_->node_memory.bytes();
  }

 private:
  struct Node {
    Node* next = nullptr;
    Key key{};
    uint32_t value = 0;
    Spinlock lock{};
  };
  // Fresh memory is a chain without nodes whose lock is free.
  struct Chain {
    Node* first = nullptr;
    RwLock lock{};
  };

  struct Held {
    Held(Arena chains, Arena nodes, uint64_t chains_wanted, uint64_t nodes_wanted)
        : chain_memory(std::move(chains)),
          node_memory(std::move(nodes)),
          chain_count(chains_wanted),
          node_count(nodes_wanted) {
      free.reserve(node_count);
      for (uint64_t node = node_count; node > 0; --node)
        free.push_back(&reinterpret_cast<Node*>(node_memory.data())[node - 1]);
    }

    [[nodiscard]] Chain& chain_of(const Key& key) {
      return reinterpret_cast<Chain*>(chain_memory.data())[hash(key) & (chain_count - 1)];
    }
    [[nodiscard]] Node* take() {
      const std::scoped_lock guard(pool_lock);
      if (free.empty()) return nullptr;
      Node* node = free.back();
      free.pop_back();
      return node;
    }
    void give_back(Node* node) {
      const std::scoped_lock guard(pool_lock);
      free.push_back(node);
    }
    [[nodiscard]] uint64_t size() {
      const std::scoped_lock guard(pool_lock);
      return node_count - free.size();
    }

    Arena chain_memory;
    Arena node_memory;
    uint64_t chain_count;
    uint64_t node_count;
    KeyHash<Key> hash{};
    alignas(64) RwLock lock{};
    alignas(64) Spinlock pool_lock{};
    std::vector<Node*> free;
  };

 public:
  explicit LockedChains(std::shared_ptr<Held> held) : held_(std::move(held)) {}

 private:
  static Node* find(const Chain& chain, const Key& key) {
    Node* node = chain.first;
    while (node != nullptr && !(node->key == key)) node = node->next;
    return node;
  }

  std::shared_ptr<Held> held_;
};

}  // namespace roost::lab

// A table that one thread may use, with a lock around it.
#pragma once

#include <rte_spinlock.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <utility>

#include "lab/store/common_values.h"
#include "lab/store/plain_table.h"

namespace roost::lab {

// DPDK's, with the names of the standard. Everybody waits for everybody.
class Spinlock {
 public:
  void lock() { rte_spinlock_lock(&lock_); }
  void unlock() { rte_spinlock_unlock(&lock_); }
  void lock_shared() { lock(); }
  void unlock_shared() { unlock(); }

 private:
  rte_spinlock_t lock_ = RTE_SPINLOCK_INITIALIZER;
};

// A view of a table behind such a lock. A lookup holds it once a batch.
template <class Key, class Lock>
class LockedValues final : public SmallValues<Key> {
 public:
  // What the views have in common.
  struct Held {
    std::unique_ptr<SmallValues<Key>> table;
    alignas(64) Lock lock{};
  };

  explicit LockedValues(std::shared_ptr<Held> held) : held_(std::move(held)) {}

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    const std::shared_lock guard(held_->lock);
    return held_->table->lookup(keys, out, hits);
  }
  bool insert(const Key& key, uint32_t value) override {
    const std::scoped_lock guard(held_->lock);
    return held_->table->insert(key, value);
  }
  bool erase(const Key& key) override {
    const std::scoped_lock guard(held_->lock);
    return held_->table->erase(key);
  }
  [[nodiscard]] uint64_t size() const override {
    const std::shared_lock guard(held_->lock);
    return held_->table->size();
  }
  [[nodiscard]] uint64_t memory_bytes() const override { return held_->table->memory_bytes(); }

 private:
  std::shared_ptr<Held> held_;
};

}  // namespace roost::lab

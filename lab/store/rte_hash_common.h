// rte_hash as threads share it: by its reader-writer lock (LB), or without one (LF), where what is
// erased is given free when every reader has passed a quiescent state (RCU QSBR).
#pragma once

#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "lab/contestants/rte_hash_handle.h"
#include "lab/store/common_values.h"
#include "lab/store/rte_hash_values.h"

namespace roost::lab {

// A view of one; with RCU, its thread is a reader during its calls only, so that one that makes
// none for a while keeps nothing from being given free. That costs a fence a call.
template <class KeyT>
class RteHashCommon final : public SmallValues<KeyT> {
 public:
  using Key = KeyT;

  static constexpr uint8_t kLocked =
      RTE_HASH_EXTRA_FLAGS_MULTI_WRITER_ADD | RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY;
  static constexpr uint8_t kLockFree =
      RTE_HASH_EXTRA_FLAGS_MULTI_WRITER_ADD | RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF;

  static Result<CommonViews> create(uint8_t flags, const TableConfig& config, size_t threads) {
    Result<MadeRteHash> made = make_rte_hash(config.capacity, sizeof(Key), flags);
    if (!made) return made.error();
    auto held = std::make_shared<Held>(std::move(made).value());
    if (flags == kLockFree && !held->add_rcu(threads))
      return Error{"rte_hash: no quiescent-state variable for its readers"};
    CommonViews views;
    for (size_t thread = 0; thread < threads; ++thread)
      views.push_back(std::make_unique<RteHashCommon>(held, static_cast<unsigned>(thread)));
    return views;
  }

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    const Reading reading(held_->rcu.get(), thread_);
    return look_up_values(*held_->made.table, keys, out, hits);
  }
  bool insert(const Key& key, uint32_t value) override {
    if (add(key, value)) return true;
    if (!held_->rcu) return false;
    // What was erased waits for a reader, which may have been interrupted.
    rte_rcu_qsbr_synchronize(held_->rcu.get(), RTE_QSBR_THRID_INVALID);
    return add(key, value);
  }
  bool erase(const Key& key) override {
    const Reading reading(held_->rcu.get(), thread_);
    return rte_hash_del_key(held_->made.table.get(), &key) >= 0;
  }
  [[nodiscard]] uint64_t size() const override {
    return static_cast<uint64_t>(rte_hash_count(held_->made.table.get()));
  }
  [[nodiscard]] uint64_t memory_bytes() const override { return held_->made.bytes; }

 private:
  struct RcuFree {
    void operator()(rte_rcu_qsbr* variable) const { rte_free(variable); }
  };

  struct Held {
    explicit Held(MadeRteHash of) : made(std::move(of)) {}

    [[nodiscard]] bool add_rcu(size_t threads) {
      const size_t bytes = rte_rcu_qsbr_get_memsize(static_cast<uint32_t>(threads));
      rcu.reset(static_cast<rte_rcu_qsbr*>(rte_zmalloc("roost_lab", bytes, RTE_CACHE_LINE_SIZE)));
      if (!rcu || rte_rcu_qsbr_init(rcu.get(), static_cast<uint32_t>(threads)) != 0) return false;
      rte_hash_rcu_config config{};
      config.v = rcu.get();
      config.mode = RTE_HASH_QSBR_MODE_DQ;
      return rte_hash_rcu_qsbr_add(made.table.get(), &config) == 0;
    }

    std::unique_ptr<rte_rcu_qsbr, RcuFree> rcu;  // after the table, which refers to it
    MadeRteHash made;
  };

 public:
  RteHashCommon(std::shared_ptr<Held> held, unsigned thread)
      : held_(std::move(held)), thread_(thread) {
    if (held_->rcu) static_cast<void>(rte_rcu_qsbr_thread_register(held_->rcu.get(), thread_));
  }

 private:
  [[nodiscard]] bool add(const Key& key, uint32_t value) {
    const Reading reading(held_->rcu.get(), thread_);
    return add_value(*held_->made.table, key, value);
  }

  class Reading {
   public:
    Reading(rte_rcu_qsbr* rcu, unsigned thread) : rcu_(rcu), thread_(thread) {
      if (rcu_ != nullptr) rte_rcu_qsbr_thread_online(rcu_, thread_);
    }
    ~Reading() {
      if (rcu_ != nullptr) rte_rcu_qsbr_thread_offline(rcu_, thread_);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    rte_rcu_qsbr* rcu_;
    unsigned thread_;
  };

  std::shared_ptr<Held> held_;
  unsigned thread_;
};

}  // namespace roost::lab

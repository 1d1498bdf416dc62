// A table that many threads look keys up in while one at a time changes it.
//
//   using Fib = roost::SharedTable<Mac, Port>;
//   Fib fib = Fib::create({.entries_max = 1'000'000}).value();
//
//   Fib::Reader reader = fib.reader();               // one a thread
//   reader.lookup(keys, ports, hits);                // as FlowTable's, at any time
//
//   if (auto writer = fib.try_write())               // or write(), which waits
//     writer->insert(keys, ports, outcomes);
//
// A lookup answers what was true at some moment of the call. What a writer has done is seen by all
// lookups that begin after the writer's end.
//
// Limits: no pointers into the table are handed out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "roost/base/result.h"
#include "roost/concurrent/one_writer.h"
#include "roost/concurrent/reader_core.h"
#include "roost/concurrent/shared_walk.h"
#include "roost/concurrent/whole_bucket.h"
#include "roost/concurrent/write_lock.h"
#include "roost/table/flow_table.h"
#include "roost/table/typed_lookups.h"

namespace roost {

template <class Key, class Value, class Policies = DefaultPolicies>
class SharedTable {
  struct SharedPolicies : Policies {
    using Access = std::conditional_t<Policies::Access::kIsShared, typename Policies::Access,
                                      OneWriterManyReaders>;
  };

 public:
  using KeyType = Key;
  using ValueType = Value;
  using Table = FlowTable<Key, Value, SharedPolicies>;
  using Core = std::remove_reference_t<decltype(std::declval<const Table&>().core())>;
  using EvictionCallback = typename Policies::EvictionCallback;

  // The lookups of one thread; it must not outlive the table. Copies are for other threads.
  class Reader : public TypedLookups<Reader, Key, Value> {
   public:
    explicit Reader(const Table& table) : core_(table.core()) {}

    // Like lookup, and gives the entries found a new time to live, which an entry that the writer
    // reclaims meanwhile has or has not; see FlowTable::lookup_refresh.
    template <class Keys>
    size_t lookup_refresh(const Keys& keys, Timeouts timeouts, std::span<Value> out,
                          HitWords hits) const {
      return this->run_lookup(this->batch_of(keys), CopyValueToRefresh<Value>{out, timeouts}, hits);
    }

    // Like lookup, and gives the values found those bits of `hint` that Policies::kHintBits names;
    // what is copied is as it was before. An age is set so: without the right to write, and without
    // a store where nothing changes. A hint is lost if the entry is moved or changed meanwhile.
    template <class Keys>
    size_t lookup_and_set_hint(const Keys& keys, uint16_t hint, std::span<Value> out,
                               HitWords hits) const {
      static_assert(Policies::kHintBits != 0, "the table's policies name no bits for this");
      static_assert(HasWordEntries<typename Core::Layout>, "this is for packed tables");
      return this->run_lookup(this->batch_of(keys),
                              CopyValueAndSetHint<Value>{out, Policies::kHintBits, hint}, hits);
    }

    // Calls visit(key, value) with a copy of each live entry of one of table().bucket_count()
    // buckets. What is moved between two calls may be met twice or not at all; see Walk.
    template <class Visit>
    void visit_bucket(BucketIndex bucket, Visit&& visit) const {
      visit_whole_bucket<Key, Value>(core_.engine(), bucket, visit);
    }

    [[nodiscard]] const ReaderCore<Core>& core() const { return core_; }

   private:
    ReaderCore<Core> core_;
  };

  // The table, for the one thread that has this. It must not outlive the table, nor move to another
  // thread.
  class Writer {
   public:
    Writer(Writer&& other) noexcept
        : table_(other.table_), lock_(std::exchange(other.lock_, nullptr)) {}
    Writer& operator=(Writer&&) = delete;
    ~Writer() {
      if (lock_ != nullptr) lock_->unlock();
    }

    [[nodiscard]] Table* operator->() const { return table_; }
    [[nodiscard]] Table& operator*() const { return *table_; }

   private:
    friend class SharedTable;
    Writer(Table* table, WriteLock* lock) : table_(table), lock_(lock) {}

    Table* table_;
    WriteLock* lock_;
  };

  using Walk = SharedWalk<SharedTable, Key, Value>;

  // As FlowTable::create.
  [[nodiscard]] static Result<SharedTable> create(const TableConfig& config,
                                                  EvictionCallback eviction_callback = {}) {
    Result<Table> table = Table::create(config, std::move(eviction_callback));
    if (!table) return table.error();
    return SharedTable(std::move(table).value());
  }

  [[nodiscard]] Reader reader() const { return Reader(shared_->table); }

  // See Walk. Both wait for the writer, at the beginning and at the end.
  [[nodiscard]] Walk walk() { return Walk(*this); }
  template <class Visit>
  void for_each(Visit&& visit) {
    Walk walk(*this);
    while (walk.visit(UINT64_MAX, visit)) {
    }
  }

  // The right to change the table: at once, or not at all.
  [[nodiscard]] std::optional<Writer> try_write() {
    if (!shared_->lock.try_lock()) return std::nullopt;
    return Writer(&shared_->table, &shared_->lock);
  }
  // The same, waiting for whoever has it; for callers that have nothing else to do.
  [[nodiscard]] Writer write() {
    shared_->lock.lock(Table::Access::wait);
    return Writer(&shared_->table, &shared_->lock);
  }

  // The table, for those who only read it as readers do.
  [[nodiscard]] const Table& table() const { return shared_->table; }

 private:
  // Where it stays when the table is moved.
  struct Shared {
    explicit Shared(Table&& of) : table(std::move(of)) {}
    Table table;
    WriteLock lock;
  };

  explicit SharedTable(Table&& table) : shared_(std::make_unique<Shared>(std::move(table))) {}

  std::unique_ptr<Shared> shared_;
};

}  // namespace roost

// A table as Python sees it: roost.h's functions on arrays.
//
// The interpreter's lock is given back while a table works, so a lock of its own keeps a table to
// one thread at a time. It is only waited for without the interpreter's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <roost.h>
#include "bindings/python/src/answers.h"
#include "bindings/python/src/expiry_log.h"

namespace roost::python {

class Table {
 public:
  struct Wishes {
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint64_t capacity;
    uint64_t entries_max;
    bool expiry;
    bool expiry_log;
    std::optional<uint64_t> seed;
    std::string layout;
    uint32_t key_bits;
  };

  explicit Table(const Wishes& wishes);

  // Batches; module.cc says what they mean.
  ArrayPair lookup(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& hits);
  ArrayObject contains(const ArrayObject& keys, const ArrayObject& hits);
  ArrayObject refresh(const ArrayObject& keys, const TimeoutsObject& timeouts,
                      const ArrayObject& hits);
  ArrayObject insert(const ArrayObject& keys, const ArrayObject& values,
                     const TimeoutsObject& timeouts, const ArrayObject& outcomes);
  ArrayObject upsert(const ArrayObject& keys, const ArrayObject& values,
                     const TimeoutsObject& timeouts, const ArrayObject& outcomes);
  ArrayObject erase(const ArrayObject& keys, const ArrayObject& hits);
  void clear();

  // Copies out the next live entries, of at most `max`; none at the end.
  // A part of a walk; false when it is at its end.
  bool scan(roost_cursor& cursor, size_t max, uint64_t bucket_budget, ArrayPair& entries);

  void advance(uint64_t now);
  uint64_t now();
  uint64_t maintain(std::optional<uint64_t> bucket_budget);
  uint64_t scan_deadline();
  ArrayPair take_expired();

  roost_info info();
  roost_stats stats();
  std::array<uint64_t, ROOST_OCCUPANCY_FIELDS> occupancy();
  void audit();
  std::string dump_bucket(uint64_t bucket);

 private:
  struct Destroy {
    void operator()(roost_table* table) const { roost_table_destroy(table); }
  };

  // Runs work(table) with the table's lock and without the interpreter's.
  template <class Work>
  auto use(Work&& work);
  // As use(), for work that may call the eviction callback: raises MemoryError when the log lost
  // some.
  template <class Work>
  uint64_t use_with_log(Work&& work);

  [[nodiscard]] Buffer keys_of(const ArrayObject& keys) const;
  // `count` lanes of `keys` from `first` on.
  [[nodiscard]] roost_keys lanes(const Buffer& keys, size_t first, size_t count) const;
  // Answers hits, filled by look(table, lanes, the first of them, hit words).
  template <class Look>
  ArrayObject look_up(const Buffer& keys, const ArrayObject& hits, Look&& look);
  // Answers outcomes, filled by put(table, lanes, values, timeouts, outcomes).
  template <class Put>
  ArrayObject put(const ArrayObject& keys, const ArrayObject& values, Access access,
                  const TimeoutsObject& timeouts, const ArrayObject& outcomes, Put&& put);

  Wishes wishes_;
  ExpiryLog log_;
  std::mutex mutex_;
  std::unique_ptr<roost_table, Destroy> table_;  // last: it may still write to the log
};

}  // namespace roost::python

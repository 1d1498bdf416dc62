// A table in bytes, as the mirrored operations see it, so that model and operations are compiled
// once for tables of all types and for the C interface.
//
// Keys stand one behind the other, as do values; a key or value is made from a number, and differs
// from those of other numbers as far as its size allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/expiry/tick.h"
#include "roost/table/audit.h"
#include "roost/table/flow_table.h"
#include "roost/table/table_stats.h"

namespace roost {

struct EntrySizes {
  size_t key_bytes = 0;
  size_t value_bytes = 0;  // 0: a set
  bool expires = false;
};

// How a lookup is told of its keys.
enum class KeyForm : uint8_t { kContiguous, kPointers, kHashed };

class MirroredTable {
 public:
  // `keys` has count * key_bytes bytes, `values` count * value_bytes.
  struct Keys {
    const std::byte* bytes = nullptr;
    size_t count = 0;
  };
  using Visit = std::function<void(const std::byte* key, const std::byte* value)>;

  MirroredTable() = default;
  MirroredTable(const MirroredTable&) = delete;
  MirroredTable& operator=(const MirroredTable&) = delete;
  virtual ~MirroredTable() = default;

  [[nodiscard]] virtual EntrySizes sizes() const = 0;
  virtual void write_key(uint64_t number, std::byte* key) const = 0;
  virtual void write_value(uint64_t number, std::byte* value) const = 0;

  // The functions of FlowTable.
  virtual size_t lookup(KeyForm form, Keys keys, std::byte* values, HitWords hits) = 0;
  virtual size_t lookup_refresh(Keys keys, TickCount timeout, std::byte* values, HitWords hits) = 0;
  virtual size_t find(Keys keys, std::byte** found, HitWords hits) = 0;
  virtual void refresh(const std::byte* found, TickCount timeout) = 0;
  [[nodiscard]] virtual TickCount ticks_left(const std::byte* found) const = 0;
  virtual void start(Keys keys) = 0;
  virtual size_t lookup_and_start(std::byte* values, HitWords hits, Keys next_keys) = 0;
  virtual size_t lookup_started(std::byte* values, HitWords hits) = 0;
  virtual size_t insert(Keys keys, const std::byte* values, std::vector<InsertOutcome>& outcomes,
                        const std::vector<TickCount>& timeouts) = 0;
  virtual size_t upsert(Keys keys, std::byte* values, std::vector<InsertOutcome>& outcomes,
                        const std::vector<TickCount>& timeouts) = 0;
  virtual size_t erase(Keys keys, HitWords erased) = 0;
  virtual void clear() = 0;
  virtual void for_each(const Visit& visit) = 0;
  virtual AdvanceOutcome advance(Tick now) = 0;
  virtual uint64_t maintain(uint64_t bucket_budget) = 0;
  [[nodiscard]] virtual Tick scan_deadline() const = 0;
  [[nodiscard]] virtual uint64_t bucket_count() const = 0;
  [[nodiscard]] virtual TableStats stats() const = 0;
  virtual std::optional<Violation> audit() = 0;

  // Called with every expired entry; set before the first operation.
  Visit on_eviction;
};

}  // namespace roost

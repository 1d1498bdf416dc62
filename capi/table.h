// A table as the C interface sees it: one set of operations, of which each padded key size, with
// and without expiry, has its own (sized_table.h). The set is chosen once, at creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "capi/roost_shared.h"
#include "capi/roost_types.h"
#include "roost/base/hit_words.h"
#include "roost/concurrent/write_lock.h"
#include "roost/expiry/slot_timers.h"
#include "roost/memory/arena.h"
#include "roost/table/audit.h"
#include "roost/table/cursor.h"
#include "roost/table/mutate_batch.h"
#include "roost/table/table_stats.h"

namespace roost::capi {

// What a lookup does with a lane that hits. Lanes that miss are left alone by all of them.
enum class AnswerKind : uint8_t { kHitOnly, kCopy, kPoint, kCopyAndRefresh, kCopyAndPrefetch };

// How a lookup answers, and where. `records` counts for kCopyAndPrefetch, `timeouts` for
// kCopyAndRefresh.
struct Answer {
  AnswerKind kind;
  void* out;
  Timeouts timeouts{};
  roost_records records{};
};

// Copies values, if the caller wants them.
[[nodiscard]] inline Answer copied_to(void* values) {
  return {.kind = values == nullptr ? AnswerKind::kHitOnly : AnswerKind::kCopy, .out = values};
}

// What a table keeps of its configuration.
struct Shape {
  size_t key_bytes;
  unsigned key_bits;
  size_t value_bytes;
  bool expires;
  int32_t numa_node;
};

}  // namespace roost::capi

// Global, because C knows these two by their names.
struct roost_reader {
  roost_reader() = default;
  roost_reader(const roost_reader&) = delete;
  roost_reader& operator=(const roost_reader&) = delete;
  virtual ~roost_reader() = default;

  // As the table's.
  virtual size_t lookup(const roost_keys& keys, const roost::capi::Answer& answer, uint64_t* hits,
                        const roost_keys* next, roost_flight* next_flight) = 0;
  virtual void start(const roost_keys& keys, roost_flight& flight) const = 0;
};

struct roost_table {
  explicit roost_table(roost::capi::Shape table_shape) : shape(table_shape) {}
  roost_table(const roost_table&) = delete;
  roost_table& operator=(const roost_table&) = delete;
  virtual ~roost_table() = default;

  // `next`, or null, is started into `next_flight` while the last lines of this batch arrive.
  virtual size_t lookup(const roost_keys& keys, const roost::capi::Answer& answer, uint64_t* hits,
                        const roost_keys* next, roost_flight* next_flight) = 0;
  virtual void start(const roost_keys& keys, roost_flight& flight) const = 0;
  // Lanes of the lookup that `flight` is.
  [[nodiscard]] virtual size_t lanes_of(const roost_flight& flight) const = 0;
  virtual void hash(const roost_keys& keys, uint64_t* hashes) const = 0;

  virtual size_t insert(const roost_keys& keys, std::byte* values, roost::Timeouts timeouts,
                        uint8_t* outcomes, roost::IfExisting if_existing) = 0;
  virtual size_t erase(const roost_keys& keys, uint64_t* erased) = 0;
  virtual void refresh(const std::byte* value, uint32_t timeout) = 0;
  [[nodiscard]] virtual uint32_t ticks_left(const std::byte* value) const = 0;
  virtual void clear() = 0;
  // False when the walk is at its end; `count` gets the number of entries.
  virtual bool scan(roost::Cursor& cursor, std::byte* keys, std::byte* values,
                    roost::ScanBudget budget, size_t& count) const = 0;

  virtual roost::AdvanceOutcome advance(roost::Tick now) = 0;
  [[nodiscard]] virtual roost::Tick now() const = 0;
  virtual uint64_t maintain(uint64_t bucket_budget) = 0;
  [[nodiscard]] virtual roost::Tick scan_deadline() const = 0;

  virtual void describe(roost_info& info) const = 0;
  [[nodiscard]] virtual roost::TableStats stats() const = 0;
  [[nodiscard]] virtual roost::Occupancy occupancy() const = 0;
  [[nodiscard]] virtual std::optional<roost::Violation> audit() const = 0;
  [[nodiscard]] virtual std::string dump(uint64_t bucket) const = 0;
  // All of the table, with its header.
  [[nodiscard]] virtual std::span<const std::byte> image() const = 0;

  // Null when the table is one thread's.
  [[nodiscard]] virtual std::unique_ptr<roost_reader> reader() const = 0;

  const roost::capi::Shape shape;
  roost::WriteLock write_lock;
};

// The functions of roost.h: each turns C's arguments into the table's and calls its operation.
#include "capi/roost.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "capi/config_fields.h"
#include "capi/error_text.h"
#include "capi/sized_struct.h"
#include "capi/table.h"
#include "capi/table_class.h"
#include "capi/table_plan.h"
#include "roost/base/assert.h"
#include "roost/memory/whole_file.h"

namespace roost::capi {
namespace {

constexpr const char* kNoMemory = "no memory for the fixed parts of a table; free some";

roost_status bytes(const roost_config& config, uint64_t* bytes, const ErrorText& fail) {
  const Result<TablePlan> plan = creation_plan_of(config);
  if (!plan) return fail(ROOST_INVALID, plan.error().message);
  *bytes = table_class_of(plan.value()).bytes(plan.value());
  return ROOST_OK;
}

roost_status create(const roost_config& config, roost_table** table, const ErrorText& fail) {
  const Result<TablePlan> plan = creation_plan_of(config);
  if (!plan) return fail(ROOST_INVALID, plan.error().message);
  auto created = table_class_of(plan.value()).create(plan.value());
  if (!created) return fail(ROOST_NO_MEMORY, created.error().message);
  *table = std::move(created).value().release();
  return ROOST_OK;
}

roost_status adopt(const roost_config& config, roost_table** table, const ErrorText& fail) {
  const Result<TablePlan> plan = plan_of(config);
  if (!plan) return fail(ROOST_INVALID, plan.error().message);
  auto adopted = table_class_of(plan.value()).adopt(plan.value());
  if (!adopted) return fail(ROOST_INVALID, adopted.error().message);
  *table = std::move(adopted).value().release();
  return ROOST_OK;
}

Timeouts timeouts_of(const roost_timeouts* timeouts, size_t lane_count) {
  if (timeouts == nullptr) return {};
  if (timeouts->each == nullptr) return timeouts->all;
  return std::span<const TickCount>(timeouts->each, lane_count);
}

size_t lanes_of(const roost_table& table, const roost_keys& keys) {
  return keys.flight != nullptr ? table.lanes_of(*keys.flight) : keys.count;
}

size_t insert(roost_table* table, const roost_keys* keys, std::byte* values,
              const roost_timeouts* timeouts, uint8_t* outcomes, IfExisting if_existing) {
  return table->insert(*keys, values, timeouts_of(timeouts, keys->count), outcomes, if_existing);
}

roost_stats stats_of(const TableStats& stats) {
  roost_stats out{};
  out.capacity = stats.capacity;
  out.entry_count = stats.size;
  out.stash_slots = stats.stash_slots;
  out.stashed = stats.stashed;
  out.created = stats.created;
  out.erased = stats.erased;
  out.expired = stats.expired;
  out.expired_overwritten = stats.expired_overwritten;
  out.kicks = stats.kicks;
  out.refusals = stats.refusals;
  static_assert(ROOST_PATH_LENGTHS == std::tuple_size_v<decltype(stats.path_lengths)> &&
                ROOST_MOVED_FIELDS == std::tuple_size_v<decltype(stats.moved_histogram)>);
  std::ranges::copy(stats.path_lengths, out.path_lengths);
  std::ranges::copy(stats.moved_histogram, out.moved_histogram);
  out.lookups = stats.lookups.lookups;
  out.hits = stats.lookups.hits;
  out.secondary_visits = stats.lookups.secondary_visits;
  out.filter_false_positives = stats.lookups.filter_false_positives;
  out.tag_false_positives = stats.lookups.tag_false_positives;
  out.line_hint = hint_name(stats.line_hint).data();
  out.hint_rounds = stats.hint_rounds;
  return out;
}

roost_violation violation_of(const Violation& violation) {
  roost_violation out{};
  out.bucket = static_cast<uint64_t>(violation.bucket);
  out.slot = violation.slot;
  out.invariant = violation.invariant;
  write_text(violation.what, out.text, sizeof(out.text));
  return out;
}

}  // namespace
}  // namespace roost::capi

using namespace roost;
using namespace roost::capi;

static_assert(ROOST_PROJECT_MAJOR == ROOST_VERSION_MAJOR &&
                  ROOST_PROJECT_MINOR == ROOST_VERSION_MINOR &&
                  ROOST_PROJECT_PATCH == ROOST_VERSION_PATCH,
              "roost.h and the project's CMakeLists.txt must name the same version");

const char* roost_version(void) { return ROOST_PROJECT_VERSION; }

const char* roost_status_text(roost_status status) {
  switch (status) {
    case ROOST_OK:
      return "done";
    case ROOST_INVALID:
      return "an argument or a field of the configuration is out of range";
    case ROOST_NO_MEMORY:
      return "memory is unavailable, or the memory lent does not do";
    case ROOST_TIME_BACKWARDS:
      return "time may not run backwards; the table kept the time it had";
    case ROOST_SCAN_OVERDUE:
      return "time advanced past the scan's deadline; entries that expired long ago may be found "
             "again";
    case ROOST_BROKEN:
      return "the audit found a broken invariant";
  }
  return "no status of this version of the library";
}

void roost_config_init(roost_config* config, size_t size) { set_defaults(config, size); }

roost_status roost_table_bytes(const roost_config* config, uint64_t* bytes, char* error,
                               size_t error_bytes) try {
  return capi::bytes(*config, bytes, {error, error_bytes});
} catch (const std::bad_alloc&) {
  write_text(kNoMemory, error, error_bytes);
  return ROOST_NO_MEMORY;
}

roost_status roost_table_create(const roost_config* config, roost_table** table, char* error,
                                size_t error_bytes) try {
  *table = nullptr;
  return create(*config, table, {error, error_bytes});
} catch (const std::bad_alloc&) {
  write_text(kNoMemory, error, error_bytes);
  return ROOST_NO_MEMORY;
}

roost_status roost_table_adopt(const roost_config* config, roost_table** table, char* error,
                               size_t error_bytes) try {
  *table = nullptr;
  return adopt(*config, table, {error, error_bytes});
} catch (const std::bad_alloc&) {
  write_text(kNoMemory, error, error_bytes);
  return ROOST_NO_MEMORY;
}

roost_status roost_table_save(const roost_table* table, const char* path, char* error,
                              size_t error_bytes) try {
  const std::optional<Error> unwritten = write_whole(path, table->image());
  return unwritten ? ErrorText{error, error_bytes}(ROOST_INVALID, unwritten->message) : ROOST_OK;
} catch (const std::bad_alloc&) {
  write_text("no memory for the file's name; free some", error, error_bytes);
  return ROOST_NO_MEMORY;
}

void roost_table_destroy(roost_table* table) { delete table; }

size_t roost_table_lookup(roost_table* table, const roost_keys* keys, void* values,
                          uint64_t* hits) {
  return table->lookup(*keys, copied_to(values), hits, nullptr, nullptr);
}

size_t roost_table_find(roost_table* table, const roost_keys* keys, void** values, uint64_t* hits) {
  return table->lookup(*keys, {.kind = AnswerKind::kPoint, .out = values}, hits, nullptr, nullptr);
}

size_t roost_table_lookup_refresh(roost_table* table, const roost_keys* keys,
                                  const roost_timeouts* timeouts, void* values, uint64_t* hits) {
  return table->lookup(*keys,
                       {.kind = AnswerKind::kCopyAndRefresh,
                        .out = values,
                        .timeouts = timeouts_of(timeouts, lanes_of(*table, *keys))},
                       hits, nullptr, nullptr);
}

size_t roost_table_lookup_records(roost_table* table, const roost_keys* keys,
                                  const roost_records* records, void* indices, uint64_t* hits) {
  ROOST_ASSERT(table->shape.value_bytes == 4 || table->shape.value_bytes == 8);
  return table->lookup(*keys,
                       {.kind = AnswerKind::kCopyAndPrefetch, .out = indices, .records = *records},
                       hits, nullptr, nullptr);
}

void roost_table_start(const roost_table* table, const roost_keys* keys, roost_flight* flight) {
  table->start(*keys, *flight);
}

size_t roost_table_lookup_and_start(roost_table* table, roost_flight* flight, void* values,
                                    uint64_t* hits, const roost_keys* next) {
  roost_keys keys{};
  keys.flight = flight;
  return table->lookup(keys, copied_to(values), hits, next, flight);
}

void roost_table_hash(const roost_table* table, const roost_keys* keys, uint64_t* hashes) {
  table->hash(*keys, hashes);
}

size_t roost_table_insert(roost_table* table, const roost_keys* keys, const void* values,
                          const roost_timeouts* timeouts, uint8_t* outcomes) {
  // Overwriting reads values only.
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(values));
  return insert(table, keys, bytes, timeouts, outcomes, IfExisting::kOverwrite);
}

size_t roost_table_upsert(roost_table* table, const roost_keys* keys, void* values,
                          const roost_timeouts* timeouts, uint8_t* outcomes) {
  return insert(table, keys, static_cast<std::byte*>(values), timeouts, outcomes,
                IfExisting::kKeep);
}

size_t roost_table_erase(roost_table* table, const roost_keys* keys, uint64_t* erased) {
  return table->erase(*keys, erased);
}

void roost_table_refresh(roost_table* table, const void* value, uint32_t timeout) {
  table->refresh(static_cast<const std::byte*>(value), timeout);
}

uint32_t roost_table_ticks_left(const roost_table* table, const void* value) {
  return table->ticks_left(static_cast<const std::byte*>(value));
}

void roost_table_clear(roost_table* table) { table->clear(); }

size_t roost_table_scan(const roost_table* table, roost_cursor* cursor, void* keys, void* values,
                        size_t max) {
  size_t count = 0;
  roost_table_scan_part(table, cursor, keys, values, max, UINT64_MAX, &count);
  return count;
}

int roost_table_scan_part(const roost_table* table, roost_cursor* cursor, void* keys, void* values,
                          size_t max, uint64_t bucket_budget, size_t* count) {
  Cursor from{cursor->position};
  const bool goes_on = table->scan(from, static_cast<std::byte*>(keys),
                                   static_cast<std::byte*>(values), {bucket_budget, max}, *count);
  cursor->position = from.next_slot;
  return goes_on ? 1 : 0;
}

roost_status roost_table_advance(roost_table* table, uint64_t now) {
  switch (table->advance(Tick{now})) {
    case AdvanceOutcome::kBackwards:
      return ROOST_TIME_BACKWARDS;
    case AdvanceOutcome::kScanOverdue:
      return ROOST_SCAN_OVERDUE;
    case AdvanceOutcome::kAdvanced:
      break;
  }
  return ROOST_OK;
}

uint64_t roost_table_now(const roost_table* table) { return table->now().count; }

uint64_t roost_table_maintain(roost_table* table, uint64_t bucket_budget) {
  return table->maintain(bucket_budget);
}

uint64_t roost_table_scan_deadline(const roost_table* table) {
  return table->scan_deadline().count;
}

roost_status roost_table_info(const roost_table* table, roost_info* info) {
  if (!is_struct_size(info->size)) return ROOST_INVALID;
  roost_info known{};
  known.key_bytes = static_cast<uint32_t>(table->shape.key_bytes);
  known.value_bytes = static_cast<uint32_t>(table->shape.value_bytes);
  known.expires = table->shape.expires ? 1 : 0;
  known.numa_node = table->shape.numa_node;
  table->describe(known);
  fill(info, known);
  return ROOST_OK;
}

roost_status roost_table_stats(const roost_table* table, roost_stats* stats) {
  if (!is_struct_size(stats->size)) return ROOST_INVALID;
  fill(stats, stats_of(table->stats()));
  return ROOST_OK;
}

void roost_table_occupancy(const roost_table* table, uint64_t* buckets) {
  const Occupancy occupancy = table->occupancy();
  static_assert(ROOST_OCCUPANCY_FIELDS == std::tuple_size_v<Occupancy>);
  std::ranges::copy(occupancy, buckets);
}

roost_status roost_table_audit(const roost_table* table, roost_violation* violation) try {
  if (violation != nullptr && !is_struct_size(violation->size)) return ROOST_INVALID;
  const std::optional<Violation> found = table->audit();
  if (!found) return ROOST_OK;
  if (violation != nullptr) fill(violation, violation_of(*found));
  return ROOST_BROKEN;
} catch (const std::bad_alloc&) {
  return ROOST_NO_MEMORY;
}

size_t roost_table_dump_bucket(const roost_table* table, uint64_t bucket, char* text,
                               size_t text_bytes) try {
  const std::string words = table->dump(bucket);
  write_text(words, text, text_bytes);
  return words.size();
} catch (const std::bad_alloc&) {
  write_text("", text, text_bytes);
  return 0;
}

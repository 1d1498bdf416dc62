#include "roost/table/table_image.h"

#include <algorithm>
#include <string>
#include <utility>

#include "roost/base/assert.h"

namespace roost {
namespace {

constexpr uint64_t kCapacityMax = uint64_t{1} << 40;
// With eight slots a bucket, a table that promised 60 entries and changes has one entry in the
// stash one time in a thousand, and each further one is six times as rare. With two or three slots,
// a table for 200 has one of seven times, and each further one is twice as rare.
constexpr uint64_t kStashSlots = 16;
constexpr uint64_t kStashSlotsOfFew = 48;
constexpr size_t kLineBytes = 64;
// Before anything is measured, lines are prefetched into the first cache level if all of them have
// no more bytes than this: caches nearly hold them then, and they come soon.
constexpr uint64_t kNearLinesBytes = uint64_t{6} << 20;

// The smallest capacity, and the step to the next: two buckets.
uint64_t capacity_step(BucketShape shape) { return uint64_t{2} * shape.slots; }

// Buckets of the stash that a promise takes.
uint64_t stash_buckets(BucketShape shape) {
  const uint64_t slots = shape.slots > 3 ? kStashSlots : kStashSlotsOfFew;
  return slots / shape.slots;
}

uint64_t promise_of(uint64_t capacity, BucketShape shape) {
  return static_cast<uint64_t>(static_cast<double>(capacity) * shape.promised_load);
}

// The smallest capacity that can promise to hold `entries` entries.
uint64_t capacity_for(uint64_t entries, BucketShape shape) {
  auto capacity = static_cast<uint64_t>(static_cast<double>(entries) / shape.promised_load);
  while (promise_of(capacity, shape) < entries) ++capacity;
  return std::max(capacity, capacity_step(shape));
}

Result<Arena> memory_for(const TableConfig& config, uint64_t bytes, BucketCounts buckets) {
  if (config.memory.empty())
    return Arena::map(bytes, {.pages = config.pages, .numa_node = config.numa_node});
  if (config.memory.size() < bytes) {
    return Error{"the memory lent to the table has " + std::to_string(config.memory.size()) +
                 " bytes and " + std::to_string(bytes) +
                 " are needed; lend more or lower the capacity"};
  }
  Result<Arena> arena = Arena::borrow(config.memory);
  if (arena) std::fill_n(arena.value().data(), buckets.all() * kLineBytes, std::byte{0});
  return arena;
}

}  // namespace

Result<BucketCounts> bucket_counts(const TableConfig& config, BucketShape shape) {
  const bool takes_what_it_needs = config.capacity == 0 && config.entries_max != 0;
  if (config.entries_max > promise_of(kCapacityMax, shape)) {
    return Error{"a table cannot promise to hold " + std::to_string(config.entries_max) +
                 " entries; it can promise " + std::to_string(promise_of(kCapacityMax, shape))};
  }
  const uint64_t step = capacity_step(shape);
  ROOST_ASSERT(step != 0);
  const uint64_t wanted =
      takes_what_it_needs ? capacity_for(config.entries_max, shape) : config.capacity;
  if (wanted < step || wanted > kCapacityMax) {
    return Error{"a capacity of " + std::to_string(wanted) + " slots is out of range; set " +
                 std::to_string(step) + " to " + std::to_string(kCapacityMax) +
                 ", or none and entries_max"};
  }
  const uint64_t capacity = (wanted + step - 1) / step * step;
  if (config.entries_max > promise_of(capacity, shape)) {
    return Error{"a capacity of " + std::to_string(capacity) + " slots can promise to hold " +
                 std::to_string(promise_of(capacity, shape)) + " entries, not " +
                 std::to_string(config.entries_max) +
                 "; ask for fewer, or leave the capacity to the table"};
  }
  return BucketCounts{.hashed = capacity / shape.slots,
                      .stash = config.entries_max == 0 ? 0 : stash_buckets(shape)};
}

Result<TableImage> TableImage::create(const TableConfig& config, BucketCounts buckets,
                                      uint64_t bytes) {
  if (config.isa && !isa_is_supported(*config.isa)) {
    return Error{"the " + std::string(isa_name(*config.isa)) +
                 " kernel is not supported here; leave the choice to the library"};
  }
  Result<Arena> arena = memory_for(config, bytes, buckets);
  if (!arena) return arena.error();
  const PrefetchHint first_hint =
      buckets.all() * kLineBytes <= kNearLinesBytes ? PrefetchHint::kT0 : PrefetchHint::kT1;
  return TableImage{std::move(arena).value(), buckets, config.entries_max, first_hint};
}

}  // namespace roost

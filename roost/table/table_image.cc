#include "roost/table/table_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "roost/base/assert.h"
#include "roost/hash/random_seed.h"

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

uint64_t capacity_min(BucketShape shape) {
  return std::max(shape.buckets_min * shape.slots, capacity_step(shape));
}

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
  return std::max(capacity, capacity_min(shape));
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
  if (arena) {
    std::fill_n(arena.value().data(), sizeof(ImageHeader) + buckets.all() * kLineBytes,
                std::byte{0});
  }
  return arena;
}

PrefetchHint first_hint(BucketCounts buckets) {
  return buckets.all() * kLineBytes <= kNearLinesBytes ? PrefetchHint::kT0 : PrefetchHint::kT1;
}

std::optional<Error> unsupported_in(const TableConfig& config) {
  if (!std::has_single_bit(config.version_counters)) {
    return Error{std::to_string(config.version_counters) +
                 " version counters are no power of two; leave it at 8192, or take 1, 2, 4 ..."};
  }
  if (!config.isa || isa_is_supported(*config.isa)) return std::nullopt;
  return Error{"the " + std::string(isa_name(*config.isa)) +
               " kernel is not supported here; leave the choice to the library"};
}

std::string words_of(const ImageIdentity& identity) {
  return "a table (" + std::string(identity.kind.data()) + ") of " +
         std::to_string(identity.slots) + " slots a bucket, keys of " +
         std::to_string(identity.key_bits) + " bits and values of " +
         std::to_string(identity.value_bytes) + " bytes, with" +
         (identity.expires != 0 ? "" : "out") + " timers";
}

// The identity that memory begins with, if it is a table's.
Result<ImageIdentity> identity_in(std::span<const std::byte> memory) {
  ImageIdentity identity;
  if (memory.size() < sizeof(ImageHeader)) {
    return Error{"the memory has " + std::to_string(memory.size()) +
                 " bytes, too few for a table; give all of what was lent to it"};
  }
  std::memcpy(&identity, memory.data(), sizeof(identity));
  if (identity.magic != ImageIdentity::kMagic) {
    return Error{
        "the memory does not begin with a table; give what was lent to one, from its "
        "first byte on"};
  }
  if (identity.version != ImageIdentity::kVersion || identity.header_bytes != sizeof(ImageHeader)) {
    return Error{"the memory holds a table of format " + std::to_string(identity.version) +
                 ", and this library reads format " + std::to_string(ImageIdentity::kVersion) +
                 "; create the table anew"};
  }
  identity.kind.back() = '\0';
  return identity;
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
  if (wanted < capacity_min(shape) || wanted > kCapacityMax) {
    return Error{"a capacity of " + std::to_string(wanted) + " slots is out of range; set " +
                 std::to_string(capacity_min(shape)) + " to " + std::to_string(kCapacityMax) +
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

ImageIdentity TableImage::identity_of(BucketShape shape, const EntryShape& entry,
                                      BucketCounts counts, uint64_t layout_bytes) {
  ImageIdentity identity;
  identity.header_bytes = sizeof(ImageHeader);
  const std::string kind = std::string(entry.layout) + ", " + std::string(entry.probing) + ", " +
                           std::string(entry.hash);
  ROOST_ASSERT(kind.size() < identity.kind.size());
  std::ranges::copy(kind, identity.kind.begin());
  identity.slots = shape.slots;
  identity.key_bits = entry.key_bits;
  identity.value_bytes = static_cast<uint32_t>(entry.value_bytes);
  identity.expires = entry.expires ? 1 : 0;
  identity.buckets = counts;
  identity.image_bytes = sizeof(ImageHeader) + layout_bytes;
  return identity;
}

Result<TableImage> TableImage::create(const TableConfig& config, ImageIdentity identity) {
  if (auto error = unsupported_in(config)) return *error;
  identity.hash_seed = config.hash_seed ? *config.hash_seed : random_seed();
  identity.entries_max = config.entries_max;
  Result<Arena> arena = memory_for(config, identity.image_bytes, identity.buckets);
  if (!arena) return arena.error();
  TableImage image{std::move(arena).value(), roost::first_hint(identity.buckets)};
  new (image.arena.data()) ImageHeader{identity, {}};
  return image;
}

Result<BucketCounts> TableImage::buckets_in(const TableConfig& config) {
  const Result<ImageIdentity> found = identity_in(config.memory);
  if (!found) return found.error();
  const BucketCounts buckets = found.value().buckets;
  constexpr uint64_t kBucketsMax = kCapacityMax;
  if (buckets.hashed < 2 || buckets.hashed % 2 != 0 || buckets.hashed > kBucketsMax ||
      buckets.stash > kBucketsMax) {
    return Error{
        "the memory begins like a table whose numbers of buckets are damaged; create the "
        "table anew"};
  }
  return buckets;
}

Result<TableImage> TableImage::adopt(const TableConfig& config, ImageIdentity identity) {
  if (auto error = unsupported_in(config)) return *error;
  if (config.capacity != 0 || config.entries_max != 0 || config.hash_seed || config.pages ||
      config.numa_node) {
    return Error{
        "a table that is adopted has its capacity, promise, seed and pages already; "
        "configure memory, kernel and hint only"};
  }
  const ImageIdentity found = identity_in(config.memory).value();
  identity.hash_seed = found.hash_seed;
  identity.entries_max = found.entries_max;
  if (found != identity) {
    return Error{"the memory holds " + words_of(found) + "; this is " + words_of(identity)};
  }
  if (config.memory.size() < found.image_bytes) {
    return Error{"the memory has " + std::to_string(config.memory.size()) +
                 " bytes of a table of " + std::to_string(found.image_bytes) +
                 "; give all of what was lent to it"};
  }
  Result<Arena> arena = Arena::borrow(config.memory);
  if (!arena) return arena.error();
  return TableImage{std::move(arena).value(), roost::first_hint(found.buckets)};
}

}  // namespace roost

#include "roost/table/table_image.h"

#include <algorithm>
#include <string>
#include <utility>

#include "roost/table/tag_line.h"

namespace roost {
namespace {

constexpr uint64_t kCapacityMin = uint64_t{2} * kSlotsPerBucket;
// Tables up to this size are near enough for prefetches into the first cache level.
constexpr uint64_t kNearBytes = uint64_t{1} << 20;
constexpr uint64_t kCapacityMax = uint64_t{1} << 40;

Result<Arena> memory_for(const TableConfig& config, uint64_t bytes, uint64_t bucket_count) {
  if (config.memory.empty()) return Arena::map(bytes, {.pages = config.pages});
  if (config.memory.size() < bytes) {
    return Error{"the memory lent to the table has " + std::to_string(config.memory.size()) +
                 " bytes and " + std::to_string(bytes) +
                 " are needed; lend more or lower the capacity"};
  }
  Result<Arena> arena = Arena::borrow(config.memory);
  if (arena) std::fill_n(arena.value().data(), bucket_count * sizeof(TagLine), std::byte{0});
  return arena;
}

}  // namespace

Result<TableImage> TableImage::create(const TableConfig& config, uint64_t bucket_bytes) {
  if (config.capacity < kCapacityMin || config.capacity > kCapacityMax) {
    return Error{"a capacity of " + std::to_string(config.capacity) +
                 " slots is out of range; it is " + std::to_string(kCapacityMin) + " to " +
                 std::to_string(kCapacityMax)};
  }
  if (config.isa && !isa_is_supported(*config.isa)) {
    return Error{"the " + std::string(isa_name(*config.isa)) +
                 " kernel is not supported here; leave the choice to the library"};
  }
  const uint64_t bucket_count = (config.capacity + kCapacityMin - 1) / kCapacityMin * 2;
  const uint64_t bytes = bucket_count * bucket_bytes;
  Result<Arena> arena = memory_for(config, bytes, bucket_count);
  if (!arena) return arena.error();
  const PrefetchHint hint = bytes <= kNearBytes ? PrefetchHint::kT0 : PrefetchHint::kT1;
  return TableImage{std::move(arena).value(), bucket_count, hint};
}

}  // namespace roost

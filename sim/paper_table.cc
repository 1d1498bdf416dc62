#include "sim/paper_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "roost/base/assert.h"
#include "roost/table/entry.h"
#include "roost/table/image_header.h"

namespace roost::sim {

namespace {

constexpr unsigned kSlotsOfABucket = 8;
constexpr size_t kSearchedMax = 1024;

uint64_t entry_bytes_of(unsigned padded) { return (uint64_t{padded} + 8 + 15) / 16 * 16; }

}  // namespace

PaperTable::PaperTable(const Config& config, std::vector<std::byte> image,
                       const TableMetadata& metadata)
    : config_(config), image_(std::move(image)), metadata_(metadata) {}

Result<PaperTable> PaperTable::create(const Config& config) {
  const bool is_paper =
      config.format == TableFormat::kPaperCuckoo || config.format == TableFormat::kPaperSingle;
  if (!is_paper || config.buckets < 2 || !std::has_single_bit(config.buckets) ||
      config.key_bytes < 1 || config.key_bytes > kSimulatedKeyBytesMax) {
    return Error{"the paper's table has a power of two of buckets and keys of 1 to 64 bytes, not " +
                 std::to_string(config.buckets) + " and " + std::to_string(config.key_bytes)};
  }
  const auto padded = static_cast<uint8_t>(padded_key_bytes(config.key_bytes));
  ImageIdentity identity;
  identity.header_bytes = sizeof(ImageHeader);
  constexpr std::string_view kCuckoo = "paper, cuckoo, crc32c";
  constexpr std::string_view kSingle = "paper, single, crc32c";
  std::ranges::copy(config.format == TableFormat::kPaperCuckoo ? kCuckoo : kSingle,
                    identity.kind.begin());
  identity.slots = kSlotsOfABucket;
  identity.key_bits = 8 * config.key_bytes;
  identity.value_bytes = 8;
  identity.hash_seed = config.seed;
  identity.buckets = {.hashed = config.buckets, .stash = 0};
  identity.image_bytes =
      sizeof(ImageHeader) + config.buckets * kLineBytes + config.entries * entry_bytes_of(padded);
  std::vector<std::byte> image(identity.image_bytes);
  std::memcpy(image.data(), &identity, sizeof(identity));
  TableMetadata metadata;
  metadata.format = config.format;
  metadata.hash = HashKind::kCrc32c;
  metadata.key_bytes = static_cast<uint8_t>(config.key_bytes);
  metadata.padded_bytes = padded;
  metadata.slots = kSlotsOfABucket;
  metadata.value_bytes = 8;
  metadata.base = sizeof(ImageHeader);
  metadata.limit = identity.image_bytes - sizeof(ImageHeader);
  metadata.buckets = config.buckets;
  metadata.seed = config.seed;
  metadata.entries = metadata.base + config.buckets * kLineBytes;
  return PaperTable(config, std::move(image), metadata);
}

uint64_t PaperTable::slot_word(uint64_t bucket, unsigned slot) const {
  uint64_t word = 0;
  std::memcpy(&word, image_.data() + bucket_address(metadata_, bucket) + size_t{8} * slot, 8);
  return word;
}

void PaperTable::set_slot(uint64_t bucket, unsigned slot, uint64_t word) {
  std::memcpy(image_.data() + bucket_address(metadata_, bucket) + size_t{8} * slot, &word, 8);
}

std::optional<unsigned> PaperTable::free_slot(uint64_t bucket) const {
  for (unsigned slot = 0; slot < kSlotsOfABucket; ++slot)
    if (slot_word(bucket, slot) == 0) return slot;
  return std::nullopt;
}

unsigned PaperTable::slot_that_is_free(uint64_t bucket) const {
  const std::optional<unsigned> slot = free_slot(bucket);
  ROOST_ASSERT(slot.has_value());
  return *slot;
}

bool PaperTable::insert(std::span<const std::byte> key, uint64_t value) {
  if (size_ == config_.entries || key.size() != config_.key_bytes || value >> 62 != 0) return false;
  KeyBytes padded{};
  std::ranges::copy(key, padded.begin());
  const KeyPlaces places = places_of(metadata_, hash_of(metadata_, padded));
  uint64_t bucket = places.primary;
  if (!free_slot(bucket)) bucket = places.secondary;
  if (!free_slot(bucket)) {
    if (places.secondary == places.primary || !make_room(places.primary, places.secondary))
      return false;
    bucket = free_slot(places.primary) ? places.primary : places.secondary;
  }
  const uint64_t offset = metadata_.entries + size_ * entry_bytes_of(metadata_.padded_bytes);
  std::memcpy(image_.data() + offset, padded.data(), metadata_.padded_bytes);
  std::memcpy(image_.data() + offset + metadata_.padded_bytes, &value, sizeof(value));
  ++size_;
  set_slot(bucket, slot_that_is_free(bucket), size_ << 16 | static_cast<uint64_t>(places.tag));
  return true;
}

// Searches, breadth first, for a bucket with a free slot that entries lead to from one to the next,
// and moves them along from the end.
bool PaperTable::make_room(uint64_t first, uint64_t second) {
  struct Step {
    uint64_t bucket;
    size_t from;    // the step before
    unsigned slot;  // of that one's bucket: whose entry leads here
  };
  std::vector<Step> steps{{first, 0, 0}, {second, 1, 0}};
  for (size_t at = 0; at < steps.size() && steps.size() < kSearchedMax; ++at) {
    for (unsigned slot = 0; slot < kSlotsOfABucket; ++slot) {
      const uint64_t bucket = steps[at].bucket;
      const uint64_t tag = slot_word(bucket, slot) & 0xFFFF;
      const uint64_t other = (bucket ^ (tag | 1)) & (metadata_.buckets - 1);
      steps.push_back({other, at, slot});
      if (!free_slot(other)) continue;
      for (size_t step = steps.size() - 1; step > 1; step = steps[step].from) {
        const uint64_t from = steps[steps[step].from].bucket;
        set_slot(steps[step].bucket, slot_that_is_free(steps[step].bucket),
                 slot_word(from, steps[step].slot));
        set_slot(from, steps[step].slot, 0);
      }
      return true;
    }
  }
  return false;
}

}  // namespace roost::sim

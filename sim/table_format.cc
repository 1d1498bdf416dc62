#include "sim/table_format.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "roost/hash/bucket_map.h"
#include "roost/hash/crc32c_hash.h"
#include "roost/hash/keyed_hash.h"
#include "roost/table/entry.h"
#include "roost/table/inline_line.h"
#include "roost/table/probing.h"
#include "roost/table/tag_line.h"

namespace roost::sim {

namespace {

constexpr uint8_t kHasMask = 1;
constexpr uint8_t kHasFilter = 2;
constexpr unsigned kPaperSlots = 8;
constexpr uint64_t kSignatureMask = 0xFFFF;
constexpr uint64_t kPayloadMask = (uint64_t{1} << 62) - 1;
constexpr unsigned kPayloadBytesMax = 7;

template <class T>
T read_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}
template <class T>
void write_at(LineBytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

uint64_t value_word(std::span<const std::byte> bytes) {
  uint64_t word = 0;
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
  return word;
}

template <class Line>
Line line_as(const LineBytes& bytes) {
  return std::bit_cast<Line>(bytes);
}

// Calls use(line) with the bucket's line as its layout has it.
template <class Use>
auto with_line(const TableMetadata& table, const LineBytes& bytes, Use&& use) {
  if (table.format == TableFormat::kSplit) return use(line_as<TagLine>(bytes));
  if (table.slots == 2) return use(line_as<InlineLine<2>>(bytes));
  return use(line_as<InlineLine<3>>(bytes));
}

template <size_t kBytes>
Hash64 hash_bytes(const TableMetadata& table, const KeyBytes& key) {
  if (table.hash == HashKind::kCrc32c) return Crc32cHash(table.seed).hash<kBytes>(key.data());
  return KeyedHash(table.seed).hash<kBytes>(key.data());
}

// Addresses have 52 bits: so none of a table's own is ever a sum that has run over.
bool lies_in_memory(const TableMetadata& table) {
  constexpr uint64_t kMemoryBytes = uint64_t{1} << 52;
  return table.base < kMemoryBytes && table.entries < kMemoryBytes &&
         table.limit <= kMemoryBytes - table.base;
}

uint64_t inline_key_offset(const TableMetadata& table, unsigned slot) {
  return uint64_t{table.slots} * table.value_bytes + uint64_t{slot} * table.key_bytes;
}

uint64_t split_entry_bytes(const TableMetadata& table) {
  return (uint64_t{table.padded_bytes} + table.value_bytes + 7) / 8 * 8;
}

uint64_t paper_entry_bytes(const TableMetadata& table) {
  return (uint64_t{table.padded_bytes} + 8 + 15) / 16 * 16;
}

}  // namespace

Result<KeyMask> KeyMask::of(std::span<const std::byte> mask) {
  KeyMask found;
  size_t parts = 0;
  for (size_t i = 0; i < mask.size(); ++i) {
    const auto bits = static_cast<uint8_t>(mask[i]);
    if (bits == 0xFF) {
      found.whole_bytes |= uint64_t{1} << i;
    } else if (bits != 0) {
      if (parts == found.parts.size() || i >= kSimulatedKeyBytesMax) {
        return Error{
            "a mask has more than four bytes of which only some bits count; the metadata "
            "line has room for four"};
      }
      found.parts[parts++] = {static_cast<uint8_t>(i), bits};
    }
  }
  return found;
}

void KeyMask::apply(KeyBytes& key) const {
  KeyBytes masked{};
  for (size_t i = 0; i < key.size(); ++i)
    if ((whole_bytes >> i & 1) != 0) masked[i] = key[i];
  for (const Part& part : parts)
    if (part.bits != 0) masked[part.byte] = key[part.byte] & std::byte{part.bits};
  key = masked;
}

LineBytes TableMetadata::line() const {
  LineBytes bytes{};
  write_at(bytes, 0, static_cast<uint8_t>(format));
  write_at(bytes, 1, static_cast<uint8_t>(hash));
  write_at(bytes, 2, key_bytes);
  write_at(bytes, 3, padded_bytes);
  write_at(bytes, 4, slots);
  write_at(bytes, 5, value_bytes);
  write_at(bytes, 6, static_cast<uint8_t>((mask ? kHasMask : 0) | (has_filter ? kHasFilter : 0)));
  write_at(bytes, 7, stash_buckets);
  write_at(bytes, 8, base);
  write_at(bytes, 16, limit);
  write_at(bytes, 24, buckets);
  write_at(bytes, 32, seed);
  if (mask) {
    write_at(bytes, 40, mask->whole_bytes);
    for (size_t i = 0; i < mask->parts.size(); ++i) {
      write_at(bytes, 48 + 2 * i, mask->parts[i].byte);
      write_at(bytes, 49 + 2 * i, mask->parts[i].bits);
    }
  }
  write_at(bytes, 56, entries);
  return bytes;
}

std::optional<TableMetadata> TableMetadata::of_line(const LineBytes& line) {
  TableMetadata table;
  const auto format = read_at<uint8_t>(line, 0);
  const auto hash = read_at<uint8_t>(line, 1);
  const auto flags = read_at<uint8_t>(line, 6);
  table.format = static_cast<TableFormat>(format);
  table.hash = static_cast<HashKind>(hash);
  table.key_bytes = read_at<uint8_t>(line, 2);
  table.padded_bytes = read_at<uint8_t>(line, 3);
  table.slots = read_at<uint8_t>(line, 4);
  table.value_bytes = read_at<uint8_t>(line, 5);
  table.has_filter = (flags & kHasFilter) != 0;
  table.stash_buckets = read_at<uint8_t>(line, 7);
  table.base = read_at<uint64_t>(line, 8);
  table.limit = read_at<uint64_t>(line, 16);
  table.buckets = read_at<uint64_t>(line, 24);
  table.seed = read_at<uint64_t>(line, 32);
  table.entries = read_at<uint64_t>(line, 56);
  if ((flags & kHasMask) != 0) {
    table.mask.emplace();
    table.mask->whole_bytes = read_at<uint64_t>(line, 40);
    for (size_t i = 0; i < table.mask->parts.size(); ++i) {
      table.mask->parts[i] = {
          static_cast<uint8_t>(read_at<uint8_t>(line, 48 + 2 * i) % kSimulatedKeyBytesMax),
          read_at<uint8_t>(line, 49 + 2 * i)};
    }
  }
  const bool is_inline = table.format == TableFormat::kInline;
  const bool has_shape =
      format >= 1 && format <= 4 && hash >= 1 && hash <= 2 && table.key_bytes >= 1 &&
      table.key_bytes <= kSimulatedKeyBytesMax &&
      table.padded_bytes == padded_key_bytes(table.key_bytes) && table.buckets >= 2 &&
      (is_inline
           ? table.slots == inline_slots(table.key_bytes, table.value_bytes) && table.slots != 0
           : table.slots == kPaperSlots) &&
      (table.is_paper() ? std::has_single_bit(table.buckets) : table.buckets % 2 == 0) &&
      table.base % kLineBytes == 0 && table.entries % 8 == 0 && lies_in_memory(table);
  return has_shape ? std::optional(table) : std::nullopt;
}

Hash64 hash_of(const TableMetadata& table, const KeyBytes& key) {
  switch (table.padded_bytes) {
    case 8:
      return hash_bytes<8>(table, key);
    case 16:
      return hash_bytes<16>(table, key);
    case 24:
      return hash_bytes<24>(table, key);
    case 32:
      return hash_bytes<32>(table, key);
    case 40:
      return hash_bytes<40>(table, key);
    default:
      return hash_bytes<64>(table, key);
  }
}

KeyPlaces places_of(const TableMetadata& table, Hash64 hash) {
  const Tag tag = tag_of(hash);
  if (table.is_paper()) {
    const uint64_t mask = table.buckets - 1;
    const uint64_t primary = hash.bits >> 16 & mask;
    if (table.format == TableFormat::kPaperSingle) return {primary, primary, tag};
    return {primary, (primary ^ (static_cast<uint64_t>(tag) | 1)) & mask, tag};
  }
  const BucketMap map(table.buckets);
  const BucketIndex primary = map.primary(hash);
  const bool by_functions = table.format == TableFormat::kInline && table.has_filter;
  const BucketIndex secondary = !by_functions ? map.other(primary, tag)
                                : table.slots == 2
                                    ? map.reached(primary, InlineLine<2>::function(tag))
                                    : map.reached(primary, InlineLine<3>::function(tag));
  return {static_cast<uint64_t>(primary), static_cast<uint64_t>(secondary), tag};
}

uint32_t candidates(const TableMetadata& table, const LineBytes& bucket, Tag tag,
                    const KeyBytes& key) {
  uint32_t found = 0;
  if (table.is_paper()) {
    for (unsigned slot = 0; slot < kPaperSlots; ++slot) {
      const auto entry = read_at<uint64_t>(bucket, size_t{8} * slot);
      const bool is_one =
          entry >> 16 != 0 && (entry & kSignatureMask) == static_cast<uint64_t>(tag);
      found |= is_one ? 1U << slot : 0U;
    }
    return found;
  }
  if (table.format == TableFormat::kSplit) {
    const auto line = line_as<TagLine>(bucket);
    for (unsigned slot = 0; slot < kSlotsPerBucket; ++slot)
      found |= line.tags[slot] == static_cast<uint16_t>(tag) ? 1U << slot : 0U;
    return found & line.busy;
  }
  for (unsigned slot = 0; slot < table.slots; ++slot) {
    const std::byte* held = bucket.data() + inline_key_offset(table, slot);
    found |= std::memcmp(held, key.data(), table.key_bytes) == 0 ? 1U << slot : 0U;
  }
  return found & busy_slots_of(table, bucket);
}

uint32_t busy_slots_of(const TableMetadata& table, const LineBytes& bucket) {
  if (!table.is_paper())
    return with_line(table, bucket, [](const auto& line) { return uint32_t{line.busy}; });
  uint32_t busy = 0;
  for (unsigned slot = 0; slot < kPaperSlots; ++slot)
    busy |= read_at<uint64_t>(bucket, size_t{8} * slot) >> 16 != 0 ? 1U << slot : 0U;
  return busy;
}

bool may_be_displaced(const TableMetadata& table, const LineBytes& bucket, Tag tag) {
  if (table.is_paper() || !table.has_filter) return true;
  return with_line(table, bucket, [tag](const auto& line) {
    return FilteredProbing::may_be_displaced(line, tag);
  });
}

bool has_stashed(const TableMetadata& table, const LineBytes& bucket) {
  if (table.is_paper() || table.stash_buckets == 0) return false;
  return with_line(table, bucket, [](const auto& line) { return line.has_stashed != 0; });
}

uint64_t entry_address(const TableMetadata& table, uint64_t bucket, unsigned slot,
                       const LineBytes& line) {
  if (table.is_paper()) {
    const auto number = (read_at<uint64_t>(line, size_t{8} * slot) >> 16) - 1;
    return table.entries + number * paper_entry_bytes(table);
  }
  return table.entries + (bucket * kSlotsPerBucket + slot) * split_entry_bytes(table);
}

uint64_t entry_read_bytes(const TableMetadata& table) {
  if (table.is_paper()) return uint64_t{table.padded_bytes} + 8;
  const bool has_payload = table.value_bytes <= kPayloadBytesMax;
  return uint64_t{table.padded_bytes} + (has_payload ? table.value_bytes : 0);
}

uint64_t entry_word(const TableMetadata& table, uint64_t address,
                    std::span<const std::byte> entry) {
  const auto value = entry.subspan(table.padded_bytes);
  if (table.is_paper()) return found_word(value_word(value.first(8)) & kPayloadMask);
  if (table.value_bytes > kPayloadBytesMax) return found_word(address + table.padded_bytes);
  return found_word(value_word(value.first(table.value_bytes)));
}

uint64_t inline_word(const TableMetadata& table, uint64_t address, unsigned slot,
                     const LineBytes& bucket) {
  const uint64_t offset = uint64_t{slot} * table.value_bytes;
  if (table.value_bytes > kPayloadBytesMax) return found_word(address + offset);
  return found_word(value_word(std::span(bucket).subspan(offset, table.value_bytes)));
}

}  // namespace roost::sim

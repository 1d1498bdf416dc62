// Images of tables in simulated memory, and lookups in their bytes without time.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "roost/base/assert.h"
#include "roost/table/entry.h"
#include "roost/table/image_header.h"
#include "roost/table/tag_line.h"
#include "sim/saved_table.h"
#include "sim/table_format.h"

namespace roost::sim {

namespace {

constexpr uint64_t kMetadataOffset = ImageHeader::kBytes - kLineBytes;

struct Kind {
  std::string_view name;
  TableFormat format;
  HashKind hash;
  bool has_filter;
};

constexpr Kind kKinds[] = {
    {"paper, cuckoo, crc32c", TableFormat::kPaperCuckoo, HashKind::kCrc32c, false},
    {"paper, single, crc32c", TableFormat::kPaperSingle, HashKind::kCrc32c, false},
    {"split, filtered, keyed", TableFormat::kSplit, HashKind::kKeyed, true},
    {"split, filtered, crc32c", TableFormat::kSplit, HashKind::kCrc32c, true},
    {"split, optimistic, keyed", TableFormat::kSplit, HashKind::kKeyed, false},
    {"split, optimistic, crc32c", TableFormat::kSplit, HashKind::kCrc32c, false},
    {"inline, filtered, keyed", TableFormat::kInline, HashKind::kKeyed, true},
    {"inline, filtered, crc32c", TableFormat::kInline, HashKind::kCrc32c, true},
    {"inline, optimistic, keyed", TableFormat::kInline, HashKind::kKeyed, false},
    {"inline, optimistic, crc32c", TableFormat::kInline, HashKind::kCrc32c, false},
};

std::string quoted(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + safe + "\"";
}

Result<ImageIdentity> identity_of(std::span<const std::byte> image) {
  ImageIdentity identity;
  if (image.size() < sizeof(ImageHeader)) {
    return Error{"the image has " + std::to_string(image.size()) +
                 " bytes, too few for a table; save the whole image"};
  }
  std::memcpy(&identity, image.data(), sizeof(identity));
  if (identity.magic != ImageIdentity::kMagic) {
    return Error{"this is no image of a table; save one with FlowTable::image()"};
  }
  if (identity.version != ImageIdentity::kVersion || identity.header_bytes != ImageHeader::kBytes) {
    return Error{"the image is of format " + std::to_string(identity.version) +
                 ", and this program reads format " + std::to_string(ImageIdentity::kVersion) +
                 "; save the table again"};
  }
  if (identity.image_bytes != image.size()) {
    return Error{"the image has " + std::to_string(image.size()) + " bytes and says that it has " +
                 std::to_string(identity.image_bytes) + "; save the whole image"};
  }
  identity.kind.back() = '\0';
  return identity;
}

// Bytes of buckets and entries of a table with this metadata; of the paper's format, of the
// buckets.
uint64_t bytes_needed(const TableMetadata& table) {
  const uint64_t lines = (table.buckets + table.stash_buckets) * kLineBytes;
  const uint64_t homes = uint64_t{table.stash_buckets} * table.slots * 8;
  if (table.format != TableFormat::kSplit) return lines + homes;
  const uint64_t entry_bytes = (uint64_t{table.padded_bytes} + table.value_bytes + 7) / 8 * 8;
  return lines + homes + (table.buckets + table.stash_buckets) * kSlotsPerBucket * entry_bytes;
}

Result<TableMetadata> metadata_of(const ImageIdentity& identity, uint64_t address) {
  const std::string_view name(identity.kind.data());
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == std::end(kKinds)) {
    return Error{"the image is of a table " + quoted(name) +
                 "; lookup units know the split and inline layouts, filtered or optimistic, with "
                 "the keyed hash or CRC32C, and the paper's format"};
  }
  if (identity.expires != 0) {
    return Error{
        "the image is of a table with timers, and a lookup unit has no time; save one "
        "without"};
  }
  TableMetadata table;
  table.format = kind->format;
  table.hash = kind->hash;
  table.has_filter = kind->has_filter;
  const uint32_t key_bytes = identity.key_bits / 8;
  const bool fits = identity.key_bits % 8 == 0 && key_bytes >= 1 &&
                    key_bytes <= kSimulatedKeyBytesMax && identity.value_bytes <= 255 &&
                    identity.slots <= kSlotsPerBucket && identity.buckets.stash <= 255 &&
                    identity.buckets.hashed <= identity.image_bytes / kLineBytes;
  if (!fits) {
    return Error{"the image has keys of " + std::to_string(identity.key_bits) +
                 " bits and values of " + std::to_string(identity.value_bytes) +
                 " bytes; lookup units take keys of 1 to 64 bytes and values of up to 255"};
  }
  table.key_bytes = static_cast<uint8_t>(key_bytes);
  table.padded_bytes = static_cast<uint8_t>(padded_key_bytes(key_bytes));
  table.slots = static_cast<uint8_t>(identity.slots);
  table.value_bytes = static_cast<uint8_t>(identity.value_bytes);
  table.stash_buckets = static_cast<uint8_t>(identity.buckets.stash);
  table.base = address + ImageHeader::kBytes;
  table.limit = identity.image_bytes - ImageHeader::kBytes;
  table.buckets = identity.buckets.hashed;
  table.seed = identity.hash_seed;
  table.entries = table.base + identity.buckets.all() * kLineBytes;
  const uint64_t needed = bytes_needed(table);
  if (!TableMetadata::of_line(table.line()) || needed > table.limit ||
      (!table.is_paper() && needed != table.limit)) {
    return Error{
        "the image's numbers of slots, buckets and bytes contradict each other; save the "
        "table again"};
  }
  return table;
}

// Looks in a bucket; nothing if the key is not there.
std::optional<uint64_t> word_in(const SimulatedMemory& memory, const TableMetadata& table,
                                uint64_t bucket, const LineBytes& line, Tag tag,
                                const KeyBytes& key, LookupPath::Look& look) {
  look.line = bucket_address(table, bucket);
  for (uint32_t left = candidates(table, line, tag, key); left != 0; left &= left - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(left));
    look.slot = slot;
    look.has_candidate = true;
    if (table.format == TableFormat::kInline)
      return inline_word(table, bucket_address(table, bucket), slot, line);
    const uint64_t address = entry_address(table, bucket, slot, line);
    look.entries.push_back(address);
    if (!table.holds(address, entry_read_bytes(table))) return kRefusedWord;
    std::array<std::byte, kSimulatedKeyBytesMax + 8> entry;
    memory.read(address, std::span(entry).first(entry_read_bytes(table)));
    if (std::memcmp(entry.data(), key.data(), table.padded_bytes) == 0)
      return entry_word(table, address, entry);
  }
  return std::nullopt;
}

}  // namespace

LookupPath lookup_path(const SimulatedMemory& memory, const TableMetadata& table, KeyBytes key) {
  if (table.mask) table.mask->apply(key);
  LookupPath path{.word = kNotFoundWord};
  const KeyPlaces places = places_of(table, hash_of(table, key));
  const auto finds_in = [&](uint64_t bucket, const LineBytes& line) {
    const auto word =
        word_in(memory, table, bucket, line, places.tag, key, path.looks.emplace_back());
    if (word) path.word = *word;
    return word.has_value();
  };
  const auto line_at = [&](uint64_t bucket) {
    return memory.read_line(line_of(bucket_address(table, bucket)));
  };
  path.secondary = bucket_address(table, places.secondary);
  const LineBytes primary = line_at(places.primary);
  if (finds_in(places.primary, primary)) return path;
  if (places.secondary == places.primary || !may_be_displaced(table, primary, places.tag))
    return path;
  if (finds_in(places.secondary, line_at(places.secondary)) || !has_stashed(table, primary))
    return path;
  for (uint64_t bucket = table.buckets; bucket < table.buckets + table.stash_buckets; ++bucket) {
    if (finds_in(bucket, line_at(bucket))) break;
  }
  return path;
}

namespace {

// Calls visit(bucket, slot, key) for each entry.
template <class Visit>
void for_each_entry(const SimulatedMemory& memory, const TableMetadata& table, Visit&& visit) {
  for (uint64_t bucket = 0; bucket < table.buckets + table.stash_buckets; ++bucket) {
    const LineBytes line = memory.read_line(line_of(bucket_address(table, bucket)));
    const uint32_t busy = busy_slots_of(table, line);
    for (uint32_t left = busy; left != 0; left &= left - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(left));
      KeyBytes key{};
      if (table.format == TableFormat::kInline) {
        std::memcpy(
            key.data(),
            line.data() + size_t{table.slots} * table.value_bytes + size_t{slot} * table.key_bytes,
            table.key_bytes);
      } else {
        memory.read(entry_address(table, bucket, slot, line),
                    std::span(key).first(table.padded_bytes));
      }
      visit(bucket, slot, key);
    }
  }
}

}  // namespace

uint64_t lookup_word(const SimulatedMemory& memory, uint64_t table_address, KeyBytes key) {
  const auto table = TableMetadata::of_line(memory.read_line(line_of(table_address)));
  return table ? lookup_path(memory, *table, key).word : kRefusedWord;
}

Result<uint64_t> put_table(SimulatedMemory& memory, uint64_t address,
                           std::span<const std::byte> image, std::optional<KeyMask> mask) {
  const Result<ImageIdentity> identity = identity_of(image);
  if (!identity) return identity.error();
  Result<TableMetadata> table = metadata_of(identity.value(), address);
  if (!table) return table.error();
  table.value().mask = mask;
  const auto place = memory.put(address, image);
  if (!place) return place.error();
  const LineBytes line = table.value().line();
  std::ranges::copy(line, place.value().begin() + kMetadataOffset);
  return address + kMetadataOffset;
}

std::optional<std::string> audit_table(const SimulatedMemory& memory, uint64_t table_address) {
  const auto table = TableMetadata::of_line(memory.read_line(line_of(table_address)));
  if (!table) return "there is no table's metadata";
  std::optional<std::string> wrong;
  for_each_entry(memory, *table, [&](uint64_t bucket, unsigned slot, const KeyBytes& key) {
    if (!wrong && !is_found(lookup_path(memory, *table, key).word)) {
      wrong = "the entry in slot " + std::to_string(slot) + " of bucket " + std::to_string(bucket) +
              " is not where its key leads";
    }
  });
  return wrong;
}

Result<AuditedTable> audit_image(std::span<const std::byte> image) {
  SimulatedMemory memory;
  const Result<uint64_t> address = put_table(memory, ImageHeader::kBytes, image);
  if (!address) return address.error();
  if (const auto wrong = audit_table(memory, address.value()))
    return Error{"the table is damaged: " + *wrong + "; save it again"};
  const auto metadata = TableMetadata::of_line(memory.read_line(line_of(address.value())));
  ROOST_ASSERT(metadata.has_value());
  AuditedTable audited{.metadata = *metadata};
  for_each_entry(memory, audited.metadata, [&](uint64_t, unsigned, const KeyBytes& key) {
    if (audited.entries++ == 0) audited.some_key = key;
  });
  return audited;
}

Result<PaperTable> paper_table_of(std::span<const std::byte> image) {
  SimulatedMemory memory;
  const Result<uint64_t> address = put_table(memory, ImageHeader::kBytes, image);
  if (!address) return address.error();
  const auto metadata = TableMetadata::of_line(memory.read_line(line_of(address.value())));
  ROOST_ASSERT(metadata.has_value());
  std::vector<KeyBytes> keys;
  for_each_entry(memory, *metadata,
                 [&](uint64_t, unsigned, const KeyBytes& key) { keys.push_back(key); });
  constexpr uint64_t kSlots = 8;
  constexpr uint64_t kGrowthMax = 64;
  const uint64_t least =
      std::bit_ceil(std::max<uint64_t>(2, (metadata->buckets * metadata->slots + 7) / kSlots));
  for (uint64_t buckets = least; buckets <= least * kGrowthMax; buckets *= 2) {
    auto table = PaperTable::create({.buckets = buckets,
                                     .entries = std::max<uint64_t>(keys.size(), 1),
                                     .key_bytes = metadata->key_bytes,
                                     .seed = metadata->seed});
    if (!table) return table;
    const bool fits = std::ranges::all_of(keys, [&](const KeyBytes& key) {
      return table.value().insert(std::as_bytes(std::span(key)).first(metadata->key_bytes), 1);
    });
    if (fits) return table;
  }
  return Error{"the paper's table does not take these keys: too many have one CRC32C"};
}

}  // namespace roost::sim

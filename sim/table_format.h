// What a lookup unit reads of a table: the metadata line, and what it says of buckets and entries
// (docs/decisions/0053). Four formats: the paper's, with two buckets a key or one; the split and
// the inline layout of roost/table.
//
// Everything here is a function of bytes: the accelerator's model and the lookups that check it
// share it, and the tests hold both against the tables themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/hash/hash64.h"
#include "sim/query.h"
#include "sim/simulated_memory.h"

namespace roost::sim {

enum class TableFormat : uint8_t { kPaperCuckoo = 1, kPaperSingle, kSplit, kInline };
enum class HashKind : uint8_t { kCrc32c = 1, kKeyed };

// A mask of a key: bytes that count whole, and up to four of which only some bits count.
struct KeyMask {
  struct Part {
    uint8_t byte = 0;
    uint8_t bits = 0;
  };
  uint64_t whole_bytes = 0;  // bit i: byte i
  std::array<Part, 4> parts{};

  // The mask of a mask's bytes. Errors: more than four bytes of which only some bits count.
  [[nodiscard]] static Result<KeyMask> of(std::span<const std::byte> mask);
  void apply(KeyBytes& key) const;
};

// The metadata line, unpacked.
struct TableMetadata {
  TableFormat format = TableFormat::kSplit;
  HashKind hash = HashKind::kKeyed;
  uint8_t key_bytes = 0;     // that are compared
  uint8_t padded_bytes = 0;  // that are hashed
  uint8_t slots = 0;         // of a bucket
  uint8_t value_bytes = 0;
  bool has_filter = false;    // buckets say which keys may be elsewhere
  uint8_t stash_buckets = 0;  // behind those that hashes lead to
  uint64_t base = 0;          // address of bucket 0
  uint64_t limit = 0;         // bytes from there that are the table's
  uint64_t buckets = 0;       // that hashes lead to
  uint64_t seed = 0;
  uint64_t entries = 0;  // address of entry 0
  std::optional<KeyMask> mask{};

  [[nodiscard]] LineBytes line() const;
  // Nothing, if the line cannot be one of a table.
  [[nodiscard]] static std::optional<TableMetadata> of_line(const LineBytes& line);

  [[nodiscard]] bool is_paper() const {
    return format == TableFormat::kPaperCuckoo || format == TableFormat::kPaperSingle;
  }
  [[nodiscard]] bool holds(uint64_t address, uint64_t bytes) const {
    return address >= base && address - base < limit && bytes <= limit - (address - base);
  }
};

// Where a key may be.
struct KeyPlaces {
  uint64_t primary = 0;
  uint64_t secondary = 0;  // the same as primary, where there is none
  Tag tag{};               // the signature
};

// The hash of a masked key, zeroes behind it.
[[nodiscard]] Hash64 hash_of(const TableMetadata& table, const KeyBytes& key);
[[nodiscard]] KeyPlaces places_of(const TableMetadata& table, Hash64 hash);
[[nodiscard]] inline uint64_t bucket_address(const TableMetadata& table, uint64_t bucket) {
  return table.base + bucket * kLineBytes;
}

// Slots of a bucket whose signature is the key's; of the inline format, whose key is.
[[nodiscard]] uint32_t candidates(const TableMetadata& table, const LineBytes& bucket, Tag tag,
                                  const KeyBytes& key);
// Whether keys with this tag, whose primary bucket this is, may be elsewhere; whether some are in
// the stash.
[[nodiscard]] bool may_be_displaced(const TableMetadata& table, const LineBytes& bucket, Tag tag);
[[nodiscard]] bool has_stashed(const TableMetadata& table, const LineBytes& bucket);

// Slots of a bucket that hold an entry.
[[nodiscard]] uint32_t busy_slots_of(const TableMetadata& table, const LineBytes& bucket);

// Where the entry of a slot stands; not of the inline format.
[[nodiscard]] uint64_t entry_address(const TableMetadata& table, uint64_t bucket, unsigned slot,
                                     const LineBytes& line);
// Bytes of an entry that a lookup reads: the key, and the value if that is the payload.
[[nodiscard]] uint64_t entry_read_bytes(const TableMetadata& table);
// What a lookup that found the key in an entry ends with; `address` is the entry's.
[[nodiscard]] uint64_t entry_word(const TableMetadata& table, uint64_t address,
                                  std::span<const std::byte> entry);
// The same of a slot of the inline format; `address` is the bucket's.
[[nodiscard]] uint64_t inline_word(const TableMetadata& table, uint64_t address, unsigned slot,
                                   const LineBytes& bucket);

// What a lookup reads of a table, in its order.
struct LookupPath {
  struct Look {
    uint64_t line = 0;                // the bucket's address
    std::vector<uint64_t> entries{};  // that its key is compared with; the last one may be its
    uint32_t slot = 0;                // the last of their slots, or of the inline format its own
    bool has_candidate = false;       // there is a slot with its signature, or of the inline format
                                      // with its key
  };
  std::vector<Look> looks{};
  uint64_t secondary = 0;  // the other bucket's address, also if it is not read
  uint64_t word = 0;
};
[[nodiscard]] LookupPath lookup_path(const SimulatedMemory& memory, const TableMetadata& table,
                                     KeyBytes key);

// The word that a lookup of a key ends with, from the bytes of memory as they are now: what a
// single thread finds. Reads as many lines as it needs.
[[nodiscard]] uint64_t lookup_word(const SimulatedMemory& memory, uint64_t table_address,
                                   KeyBytes key);

// --- Images. ---

// Puts the image of a table at an address, a multiple of 4,096, and its metadata line behind the
// header; the table's address, for lookups. Errors: no image of a format that can be looked up,
// cut, longer, or with contents that contradict each other.
[[nodiscard]] Result<uint64_t> put_table(SimulatedMemory& memory, uint64_t address,
                                         std::span<const std::byte> image,
                                         std::optional<KeyMask> mask = {});

// The first entry of a table that its key does not lead to, in words. Time linear in the capacity.
[[nodiscard]] std::optional<std::string> audit_table(const SimulatedMemory& memory,
                                                     uint64_t table_address);

}  // namespace roost::sim

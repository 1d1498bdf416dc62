// A subtable: values under one mask, in a flow table keyed by the words that the mask touches.
//
// The key is as wide as it must be: 8, 16, 32 or 64 bytes, one compiled table each. A mask that
// touches more than 64 bytes (both MAC addresses and both of IPv6, say) is wide: its key is a
// keyed digest of the masked words, of 64 bits. A digest can stand for several values, so whoever
// keeps what the numbers name compares the words as well: the answer stays exact.
//
// Grows as it fills, by a new table of twice the room: amortised constant time an insert.
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "roost/base/result.h"
#include "roost/classify/lane_lookup.h"
#include "roost/classify/packet_fields.h"
#include "roost/hash/keyed_hash.h"

namespace roost::classify {

// 64 bits of all words, under a secret seed.
class FieldDigest {
 public:
  explicit FieldDigest(uint64_t seed) : hash_(seed) {}

  [[nodiscard]] uint64_t operator()(const PacketFields& fields) const {
    const std::array<uint64_t, 4> rest = {fields.words[8], fields.words[9], fields.words[10],
                                          hash_.hash<64>(fields.words.data()).bits};
    static_assert(kFieldWords == 11, "eight words, and three beside the hash of those");
    return hash_.hash<32>(rest.data()).bits;
  }

 private:
  KeyedHash hash_;
};

// How subtables are hashed: the same for all of a classifier.
struct SubtableConfig {
  uint64_t hash_seed = 0;
  // Bits of the digest that wide subtables use. Fewer make collisions, never wrong answers.
  unsigned digest_bits = 64;
};

class MaskedTable {
 public:
  // What a table of one key width does.
  class Width {
   public:
    virtual ~Width() = default;
    virtual LaneMask lookup(const PacketFields* packets, LaneMask lanes,
                            uint32_t* numbers) const = 0;
    [[nodiscard]] virtual uint32_t* find(const PacketFields& value) = 0;
    [[nodiscard]] virtual bool insert(const PacketFields& value, uint32_t number) = 0;
    virtual void erase(const PacketFields& value) = 0;
    [[nodiscard]] virtual uint64_t memory_bytes() const = 0;
  };

  // Errors: memory unavailable.
  [[nodiscard]] static Result<MaskedTable> create(const PacketFields& mask,
                                                  const SubtableConfig& config);

  [[nodiscard]] const PacketFields& mask() const { return mask_; }
  // Whether equal keys may be those of different values.
  [[nodiscard]] bool is_wide() const { return is_wide_; }

  // Looks up the packets of these lanes, packets[lane], all at a time; those returned have their
  // number in numbers[lane], the others' are untouched.
  [[nodiscard]] LaneMask lookup(const PacketFields* packets, LaneMask lanes,
                                uint32_t* numbers) const {
    return table_->lookup(packets, lanes, numbers);
  }
  // The number of a value, or of its digest; valid until the next insert or erase. May be written.
  [[nodiscard]] uint32_t* find(const PacketFields& value) { return table_->find(value); }
  // Of a value that is not there. False: memory for a larger table is unavailable, and nothing has
  // changed.
  [[nodiscard]] bool insert(const PacketFields& value, uint32_t number) {
    return table_->insert(value, number);
  }
  void erase(const PacketFields& value) { table_->erase(value); }

  [[nodiscard]] uint64_t memory_bytes() const { return table_->memory_bytes(); }

 private:
  MaskedTable(const PacketFields& mask, bool is_wide, std::unique_ptr<Width> table)
      : mask_(mask), is_wide_(is_wide), table_(std::move(table)) {}

  PacketFields mask_;
  bool is_wide_;
  std::unique_ptr<Width> table_;
};

}  // namespace roost::classify

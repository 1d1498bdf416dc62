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
#include "roost/hash/hash64.h"
#include "roost/hash/split_mix.h"

namespace roost::classify {

// How a classifier hashes: all its subtables, and its exact-match cache.
struct HashConfig {
  uint64_t seed = 0;
  // Bits of digests. Fewer make collisions, never wrong answers.
  unsigned digest_bits = 64;
};

// 64 bits of all words, under a secret seed: keyed, for the same ends and by the same product as
// KeyedHash. Its keys have at most eight words, so each product waits for the one before; here
// there are eleven, and all products are on their way at a time.
class FieldDigest {
 public:
  explicit FieldDigest(const HashConfig& config) : shift_(64 - config.digest_bits) {
    uint64_t seed = config.seed;
    for (uint64_t& word : secret_) word = split_mix(seed);
  }

  [[nodiscard]] uint64_t operator()(const PacketFields& fields) const {
    uint64_t state = secret_[kFieldWords + 1];
    for (size_t word = 0; word < kFieldWords; word += 2) {
      const uint64_t second = word + 1 < kFieldWords ? fields.words[word + 1] : 0;
      state ^= fold_product(fields.words[word] ^ secret_[word], second ^ secret_[word + 1]);
    }
    return fold_product(state, secret_[kFieldWords + 2]) >> shift_;
  }

 private:
  std::array<uint64_t, kFieldWords + 3> secret_{};
  unsigned shift_;
};

class MaskedTable {
 public:
  // What a table of one key width does.
  class Width {
   public:
    virtual ~Width() = default;
    virtual LaneMask lookup(PacketLanes packets, LaneMask lanes, uint32_t* numbers) const = 0;
    [[nodiscard]] virtual uint32_t* find(const PacketFields& value) = 0;
    [[nodiscard]] virtual bool insert(const PacketFields& value, uint32_t number) = 0;
    virtual void erase(const PacketFields& value) = 0;
    [[nodiscard]] virtual uint64_t memory_bytes() const = 0;
  };

  // Errors: memory unavailable.
  [[nodiscard]] static Result<MaskedTable> create(const PacketFields& mask,
                                                  const HashConfig& config);

  [[nodiscard]] const PacketFields& mask() const { return mask_; }
  // Whether equal keys may be those of different values.
  [[nodiscard]] bool is_wide() const { return is_wide_; }

  // Looks up the packets of these lanes, packets[lane], all at a time; those returned have their
  // number in numbers[lane], the others' are untouched.
  [[nodiscard]] LaneMask lookup(PacketLanes packets, LaneMask lanes, uint32_t* numbers) const {
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

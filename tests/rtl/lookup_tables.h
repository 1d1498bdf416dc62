// Tables in simulated memory for the circuit to look keys up in, and what is right.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "roost/hash/crc32c_hash.h"
#include "roost/table/flow_table.h"
#include "roost/traffic/draw.h"
#include "sim/saved_table.h"
#include "sim/simulated_memory.h"
#include "sim/table_format.h"

namespace roost::sim {

template <size_t kBytes>
struct KeyOf {
  std::array<uint8_t, kBytes> bytes;
  friend bool operator==(const KeyOf&, const KeyOf&) = default;
};

template <size_t kBytes>
struct ValueOf {
  std::array<uint8_t, kBytes> bytes;
  friend bool operator==(const ValueOf&, const ValueOf&) = default;
};

template <LayoutChoice kChoice>
struct CrcPolicies : DefaultPolicies {
  using Hash = Crc32cHash;
  static constexpr LayoutChoice kLayout = kChoice;
};

// Key number i. Keys whose numbers leave the same quotient by `alike` have one hash under every
// seed: the last four bytes of those in which they differ are what makes the CRC the same
// (roost/hash/crc32c_hash.h). Of every second hash they differ in what is compared first only.
template <size_t kBytes>
KeyOf<kBytes> numbered_key(uint64_t number, uint64_t alike) {
  constexpr size_t kFirstPart = std::min<size_t>(kBytes, 16);
  const uint64_t hash_number = number / alike;
  const size_t end = hash_number % 2 == 0 ? kBytes : kFirstPart;
  KeyOf<kBytes> key{};
  for (size_t i = 0; i + 4 < end; i += 4) {
    const auto word = static_cast<uint32_t>((number + 1) * 0x9E3779B1U + i * 0x85EBCA77U * number);
    std::memcpy(key.bytes.data() + i, &word, std::min<size_t>(4, end - 4 - i));
  }
  uint32_t crc = 0;
  for (size_t i = 0; i + 4 < end; ++i) crc = crc32c_byte(crc, key.bytes[i]);
  const uint32_t last = crc ^ static_cast<uint32_t>(traffic::mix(hash_number + 1));
  std::memcpy(key.bytes.data() + end - 4, &last, 4);
  for (size_t i = end; i < kBytes; ++i)
    key.bytes[i] = static_cast<uint8_t>(traffic::mix(hash_number) >> (i % 8 * 8));
  return key;
}

template <size_t kBytes>
KeyBytes key_bytes_of(const KeyOf<kBytes>& key) {
  KeyBytes bytes{};
  std::memcpy(bytes.data(), key.bytes.data(), kBytes);
  return bytes;
}

// What a table is filled with: keys of even numbers, some of which are erased again.
struct Filling {
  unsigned slot_bits = 10;
  double load = 0.8;
  uint64_t alike = 1;      // keys of one hash: 12 are six in the table, and six that are not
  bool has_stash = false;  // a promise, and so many keys of one hash that they go to the stash
  uint64_t hash_seed = 1;
};

template <size_t kBytes, size_t kValueBytes>
class LookupTable {
 public:
  using Table = FlowTable<KeyOf<kBytes>, ValueOf<kValueBytes>, CrcPolicies<LayoutChoice::kSplit>>;

  explicit LookupTable(const Filling& filling)
      : filling_(filling),
        entries_(
            static_cast<uint64_t>(filling.load * static_cast<double>(1U << filling.slot_bits))),
        table_(Table::create({.capacity = uint64_t{1} << filling.slot_bits,
                              .entries_max = filling.has_stash ? entries_ : 0,
                              .hash_seed = filling.hash_seed})
                   .value()) {
    for (uint64_t i = 0; i < inserted(); ++i) {
      if (i != 0 && i % kErased == 0) table_.erase(key(2 * (i - 1)));
      refused_ += table_.insert(key(2 * i), value(2 * i)) != InsertOutcome::kInserted ? 1U : 0U;
    }
  }

  [[nodiscard]] KeyOf<kBytes> key(uint64_t number) const {
    if (filling_.has_stash && number < kStashKeys) return numbered_key<kBytes>(number, kStashKeys);
    return numbered_key<kBytes>(number, filling_.alike);
  }
  [[nodiscard]] std::span<const std::byte> image() const { return image_of(table_); }
  [[nodiscard]] uint64_t numbers() const { return 2 * inserted(); }
  [[nodiscard]] uint64_t refused() const { return refused_; }
  [[nodiscard]] uint64_t stashed() const { return table_.stats().stashed; }

  // Whether that is what a lookup of this key in the image ends with.
  [[nodiscard]] bool is_right(const SimulatedMemory& memory, uint64_t number, uint64_t word) const {
    const auto* found = const_cast<Table&>(table_).find(key(number));
    if (found == nullptr) return word == kNotFoundWord;
    if (!is_found(word) || *found != value(number)) return false;
    ValueOf<kValueBytes> got{};
    if constexpr (kValueBytes > 7) {
      memory.read(payload_of(word), std::as_writable_bytes(std::span(got.bytes)));
    } else {
      const uint64_t payload = payload_of(word);
      std::memcpy(got.bytes.data(), &payload, kValueBytes);
    }
    return got == *found;
  }

 private:
  static constexpr uint64_t kStashKeys = 56;
  static constexpr uint64_t kErased = 64;  // one in so many: its free slot still has key and tag

  [[nodiscard]] uint64_t inserted() const { return entries_ + entries_ / kErased; }
  static ValueOf<kValueBytes> value(uint64_t number) {
    ValueOf<kValueBytes> value{};
    const uint64_t word = number == 0 ? 0 : traffic::mix(number + 9);
    std::memcpy(value.bytes.data(), &word, std::min(kValueBytes, sizeof(word)));
    return value;
  }

  Filling filling_;
  uint64_t entries_;
  Table table_;
  uint64_t refused_ = 0;
};

}  // namespace roost::sim

// Othello: a key's value is the exclusive or of two cells, one in each of two arrays (Yu et al.,
// ToN 2018). 2.33 cells a key, no keys.
//
// Keys are edges between the cells that they read. Where these edges make no cycle, cells can be
// set one after the other: each key's, but for one cell that it alone has by then. A graph with a
// cycle is given another hash (T-18). Of 1.33 n and n cells every second graph has none.
//
// One keyed hash gives both places; the published program computes two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/contestants/staged_batch.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/bit_fields.h"
#include "roost/compact/image_memory.h"
#include "roost/compact/line_map_reader.h"
#include "roost/hash/hash64.h"
#include "roost/hash/keyed_hash.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// A number of at most 57 bits among others that lie bit behind bit. Eight bytes are read.
[[nodiscard]] inline uint64_t load_bits(const std::byte* bytes, size_t first_bit, unsigned bits) {
  return compact::StillImage::load(bytes + first_bit / 8) >> (first_bit % 8) &
         ((uint64_t{1} << bits) - 1);
}

// The cells. Keys are given by their hashes, which a seed turns into places.
class OthelloCells {
 public:
  static constexpr int kSeedsMax = 64;
  struct Places {
    uint64_t left;
    uint64_t right;  // behind the left ones
  };

  // `hashes` and `values` by key. Errors: two hashes are equal, or no memory.
  static Result<OthelloCells> build(std::span<const uint64_t> hashes,
                                    std::span<const uint32_t> values, unsigned cell_bits,
                                    PageKind pages);

  [[nodiscard]] Places places_of(uint64_t hash) const {
    const uint64_t left = hash ^ seed_;
    return {multiply_wide(left * kLeftFactor, left_count_).high,
            left_count_ + multiply_wide((left ^ left >> 32) * kRightFactor, right_count_).high};
  }
  void ask_for(const Places& places) const {
    prefetch(PrefetchHint::kT0, cells_->data() + places.left * cell_bits_ / 8);
    prefetch(PrefetchHint::kT0, cells_->data() + places.right * cell_bits_ / 8);
  }
  [[nodiscard]] uint32_t value_at(const Places& places) const {
    return static_cast<uint32_t>(cell(places.left) ^ cell(places.right));
  }
  [[nodiscard]] uint64_t bytes() const { return cells_->bytes(); }
  [[nodiscard]] const std::byte* data() const { return cells_->data(); }
  [[nodiscard]] uint64_t used_bytes() const { return bytes_of(cell_count(), cell_bits_); }
  // How many hashes gave cycles before this one.
  [[nodiscard]] int cycles_met() const { return cycles_met_; }

 private:
  static constexpr uint64_t kLeftFactor = 0x9E3779B97F4A7C15U;
  static constexpr uint64_t kRightFactor = 0xC2B2AE3D27D4EB4FU;

  OthelloCells(uint64_t keys, unsigned cell_bits)
      : left_count_(keys + keys / 3 + 1), right_count_(keys + 1), cell_bits_(cell_bits) {}

  [[nodiscard]] uint64_t cell_count() const { return left_count_ + right_count_; }
  static uint64_t bytes_of(uint64_t cells, unsigned bits) {
    return (cells * bits + 7) / 8 + sizeof(uint64_t);  // a read takes eight bytes
  }
  [[nodiscard]] uint64_t cell(uint64_t index) const {
    return load_bits(cells_->data(), index * cell_bits_, cell_bits_);
  }

  // An edge, and the cell that is set for it.
  struct Leaf {
    uint32_t key;
    uint32_t cell;
  };
  // Edges in an order in which each has, of those not named before, a cell to itself; fewer than
  // there are: some make a cycle.
  [[nodiscard]] std::vector<Leaf> peel(std::span<const uint64_t> hashes) const;

  uint64_t left_count_;
  uint64_t right_count_;
  unsigned cell_bits_;
  uint64_t seed_ = 0;
  int cycles_met_ = 0;
  std::shared_ptr<Arena> cells_;
};

template <class Key>
class Othello : public ValueAnswers<Key> {
  using Padded = compact::PaddedKey<Key>;

 public:
  static constexpr std::string_view kName = "othello";
  static constexpr bool kKeepsKeys = false;

  static Result<Othello> build(const ValueTableConfig& config, ValueEntries<Key> entries) {
    const KeyedHash hash(config.seed);
    std::vector<uint64_t> hashes(entries.size());
    std::vector<uint32_t> values(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      hashes[i] = Padded(entries[i].key).hashed(hash).bits;
      values[i] = entries[i].value;
    }
    auto cells = OthelloCells::build(hashes, values, config.value_bits, config.pages);
    if (!cells) return cells.error();
    return Othello(hash, config.value_bits, std::move(cells).value());
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const {
    using Group = std::array<OthelloCells::Places, kStagedLanes>;
    run_staged<Group>(
        keys.size(),
        [&](size_t first, size_t count, Group& places) {
          for (size_t lane = 0; lane < count; ++lane) {
            places[lane] = cells_.places_of(Padded(keys[first + lane]).hashed(hash_).bits);
            cells_.ask_for(places[lane]);
          }
        },
        [&](size_t first, size_t count, Group& places) {
          uint32_t found = 0;
          for (size_t lane = 0; lane < count; ++lane) {
            answers[first + lane] = cells_.value_at(places[lane]);
            found |= uint32_t{answers[first + lane] != absent_} << lane;
          }
          hits.write_group(first, found);
        });
  }

  [[nodiscard]] uint64_t image_bytes() const { return cells_.used_bytes(); }
  [[nodiscard]] uint64_t builder_bytes() const { return 0; }
  [[nodiscard]] const void* image_address() const { return cells_.data(); }
  [[nodiscard]] int cycles_met() const { return cells_.cycles_met(); }

 private:
  Othello(const KeyedHash& hash, uint32_t value_bits, OthelloCells cells)
      : hash_(hash), absent_(absent_value(value_bits)), cells_(std::move(cells)) {}

  KeyedHash hash_;
  uint32_t absent_;
  OthelloCells cells_;
};

}  // namespace roost::lab

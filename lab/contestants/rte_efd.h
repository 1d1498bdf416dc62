// DPDK's elastic flow distributor: a value-only table in which groups of about two dozen keys have
// a hash function each for every bit of their values, found by trying (SetSep's idea). Values have
// 8 bits.
//
// Debian's library answers 0 to every key on processors with AVX2: its lookups by these are empty.
// The environment must be told to use registers of 128 bits (Eal::Config::register_bits).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"

struct rte_efd_table;

namespace roost::lab {

struct RteEfdFree {
  void operator()(rte_efd_table* table) const;
};
using RteEfdHandle = std::unique_ptr<rte_efd_table, RteEfdFree>;

// Needs a started Eal, on the same kind of pages.
template <class Key>
class RteEfd : public ValueAnswers<Key> {
 public:
  static constexpr std::string_view kName = "rte_efd";
  static constexpr bool kKeepsKeys = false;

  // Enough of DPDK's heap for a table of so many keys.
  [[nodiscard]] static uint64_t heap_bytes(uint64_t keys);
  static Result<RteEfd> build(const ValueTableConfig& config, ValueEntries<Key> entries);

  // The library takes 32 keys a call: longer ones are cut. Every key gets a value.
  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const;
  compact::ChangeOutcome insert(const Key& key, uint32_t value) { return put(key, value); }
  compact::ChangeOutcome update(const Key& key, uint32_t value) { return put(key, value); }
  compact::ChangeOutcome erase(const Key& key);

  [[nodiscard]] uint64_t image_bytes() const { return image_bytes_; }
  [[nodiscard]] uint64_t builder_bytes() const { return heap_bytes_ - image_bytes_; }
  [[nodiscard]] const void* image_address() const { return table_.get(); }

 private:
  RteEfd(RteEfdHandle table, uint64_t image_bytes, uint64_t heap_bytes)
      : table_(std::move(table)), image_bytes_(image_bytes), heap_bytes_(heap_bytes) {}

  compact::ChangeOutcome put(const Key& key, uint32_t value);

  RteEfdHandle table_;
  uint64_t image_bytes_;
  uint64_t heap_bytes_;
};

extern template class RteEfd<uint64_t>;
extern template class RteEfd<traffic::Key104>;

}  // namespace roost::lab

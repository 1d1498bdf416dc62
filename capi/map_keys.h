// A caller's keys as the keys of a builder: where they are, or copied, some lanes at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "capi/key_batch.h"
#include "capi/map_plan.h"
#include "capi/roost_types.h"
#include "roost/compact/line_map_builder.h"
#include "roost/compact/parrot_builder.h"

namespace roost::capi {

// Keys of a line map: bytes, with zeroes behind them up to `kPaddedBytes`.
template <size_t kPaddedBytes>
class LineKeys {
 public:
  using Key = std::array<std::byte, kPaddedBytes>;
  using Builder = compact::LineMapBuilder<Key>;
  using ImageReader = compact::LineMapReader<Key>;
  static_assert(sizeof(Key) == kPaddedBytes && alignof(Key) == 1, "callers' keys are used as such");

  explicit LineKeys(const MapKeyForm& form) : key_bytes_(form.key_bytes) {}

  [[nodiscard]] size_t key_bytes() const { return key_bytes_; }
  [[nodiscard]] bool are_in_place(const void* /*keys*/) const { return key_bytes_ == kPaddedBytes; }
  [[nodiscard]] Key key(const std::byte* at) const {
    std::array<uint64_t, kPaddedBytes / 8> words;
    copy_padded<kPaddedBytes>(words, at, key_bytes_);
    return std::bit_cast<Key>(words);
  }

  [[nodiscard]] static const compact::LineMapConfig& config(const MapPlan& plan) {
    return plan.line;
  }
  [[nodiscard]] bool is_too_wide(const Key& /*key*/, const MapPlan& /*plan*/) const {
    return false;
  }

 private:
  size_t key_bytes_;
};

// Keys of Parrot: numbers.
class ParrotKeys {
 public:
  using Key = uint64_t;
  using Builder = compact::ParrotBuilder;
  using ImageReader = compact::ParrotReader;

  explicit ParrotKeys(const MapKeyForm& form)
      : key_bytes_(form.key_bytes), is_big_endian_(form.is_big_endian) {}

  [[nodiscard]] size_t key_bytes() const { return key_bytes_; }
  [[nodiscard]] bool are_in_place(const void* keys) const {
    return key_bytes_ == sizeof(Key) && !is_big_endian_ &&
           reinterpret_cast<uintptr_t>(keys) % alignof(Key) == 0;
  }
  [[nodiscard]] Key key(const std::byte* at) const {
    std::array<uint64_t, 1> word;
    copy_padded<sizeof(Key)>(word, at, key_bytes_);
    return is_big_endian_ ? __builtin_bswap64(word[0]) >> (64 - 8 * key_bytes_) : word[0];
  }

  [[nodiscard]] static const compact::ParrotConfig& config(const MapPlan& plan) {
    return plan.parrot;
  }
  [[nodiscard]] bool is_too_wide(Key key, const MapPlan& plan) const {
    return static_cast<uint32_t>(std::bit_width(key)) > plan.parrot.key_bits;
  }

 private:
  size_t key_bytes_;
  bool is_big_endian_;
};

[[nodiscard]] inline const std::byte* key_at(const roost_keys& keys, size_t lane,
                                             size_t key_bytes) {
  return keys.keys != nullptr ? static_cast<const std::byte*>(keys.keys) + lane * key_bytes
                              : static_cast<const std::byte*>(keys.pointers[lane]);
}

// Calls use(first lane, keys) for all lanes at once where the keys are in place, else for copies of
// as many as a chunk has: whole words of bits.
template <class Keys, class Use>
void for_each_chunk(const Keys& form, const roost_keys& keys, Use&& use) {
  constexpr size_t kChunkLanes = 256;
  using Key = typename Keys::Key;
  if (keys.keys != nullptr && form.are_in_place(keys.keys)) {
    use(size_t{0}, std::span(static_cast<const Key*>(keys.keys), keys.count));
    return;
  }
  std::array<Key, kChunkLanes> chunk;
  for (size_t first = 0; first < keys.count; first += kChunkLanes) {
    const size_t count = std::min(kChunkLanes, keys.count - first);
    for (size_t lane = 0; lane < count; ++lane)
      chunk[lane] = form.key(key_at(keys, first + lane, form.key_bytes()));
    use(first, std::span<const Key>(chunk).first(count));
  }
}

}  // namespace roost::capi

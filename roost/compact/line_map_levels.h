// The image of a line map as it is built, level by level, and changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/base/result.h"
#include "roost/compact/line_layout.h"
#include "roost/memory/arena.h"

namespace roost::compact {

struct LineMapConfig {
  uint32_t value_bits = 16;             // 4 to 32; the value of all ones is reserved
  uint32_t fingerprint_bits = 0;        // 0, 8, 12 or 16: fewer strangers get a value
  bool keeps_keys = false;              // no stranger gets one; the key's bytes a slot more
  double load = 0.85;                   // keys over slots of a level, above 0 and at most 0.97
  std::optional<uint64_t> hash_seed{};  // else random
  ArenaOptions memory{};
};

class LineMapLevels {
 public:
  // An image without levels. Errors: a number of the configuration that cannot be.
  static Result<LineMapLevels> create(const LineMapConfig& config, size_t key_bytes);

  // Adds an empty level for so many keys, behind the others, which move with the image. `is_last`:
  // with room for all of them. Errors: memory.
  [[nodiscard]] std::optional<Error> add_level(uint64_t keys, bool is_last);
  // Takes the last level away, so that it can be added with another hash.
  void drop_level();
  // Adds room for a key a slot behind the last level. Errors: memory.
  [[nodiscard]] std::optional<Error> add_keys();
  [[nodiscard]] bool has_keys() const { return head_.keys_offset != 0; }
  [[nodiscard]] std::byte* key_at(size_t level, uint64_t line, uint32_t slot) const {
    const uint64_t line_offset = head_.levels[level].offset + line * kLineBytes;
    return image_.data() + kept_key_offset(head_, line_offset, slot, head_.shape.slots());
  }
  [[nodiscard]] size_t level_count() const { return head_.level_count; }

  [[nodiscard]] const LineMapHead& head() const { return head_; }
  [[nodiscard]] std::span<const std::byte> image() const {
    return {image_.data(), head_.image.image_bytes};
  }
  // Goes on in memory of the caller; no level is added then. Errors: it is too small or not
  // aligned.
  [[nodiscard]] std::optional<Error> move_to(std::span<std::byte> memory);
  [[nodiscard]] std::byte* line_at(size_t level, uint64_t line) const {
    return image_.data() + head_.levels[level].offset + line * kLineBytes;
  }

 private:
  LineMapLevels(const LineMapConfig& config, const LineMapHead& head, uint64_t seed)
      : config_(config), head_(head), seeds_(seed) {}

  // Maps more memory for the image if it has less than so much.
  [[nodiscard]] std::optional<Error> grow(uint64_t bytes);
  // Of the level that comes next.
  [[nodiscard]] double slots_of_level(uint64_t keys, bool is_last);
  void write_head();

  LineMapConfig config_;
  LineMapHead head_;
  uint64_t seeds_;            // of hashes to come
  uint64_t keys_ = 0;         // of the first level, with those that went further
  double further_share_ = 0;  // of them
  std::optional<Arena> arena_;
  std::span<std::byte> image_;
};

}  // namespace roost::compact

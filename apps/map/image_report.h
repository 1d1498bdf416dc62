// What is in an image, counted in the image: bytes by part, how full it is, how far lookups walk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/map/image.h"
#include "roost/control/json.h"

namespace roost::map {

struct LevelReport {
  uint64_t lines = 0;
  uint64_t keys = 0;
  uint64_t groups = 0;
  uint64_t groups_further = 0;  // whose keys are one level further
};

struct ImageReport {
  bool is_parrot = false;
  uint32_t key_bits = 0;
  uint32_t value_bits = 0;
  uint32_t fingerprint_bits = 0;
  bool keeps_keys = false;
  uint64_t keys = 0;  // values; of a Parrot table that was changed with those that are shadowed
  uint64_t slots = 0;
  // Most that a lookup reads: lines of a line map, entries of Parrot's stash.
  uint64_t longest_walk = 0;
  // Of a line map.
  std::vector<LevelReport> levels{};
  // Of Parrot.
  uint64_t buckets = 0;
  uint64_t failed_buckets = 0;  // whose keys no seed tells apart
  uint64_t stashed = 0;
  std::string model{};

  struct Part {
    std::string name{};
    uint64_t bytes = 0;
  };
  std::vector<Part> parts{};

  [[nodiscard]] uint64_t bytes() const;
};

// Linear.
[[nodiscard]] ImageReport report_of(const Image& image);
[[nodiscard]] std::string format_text(const ImageReport& report);
[[nodiscard]] control::Json format_json(const ImageReport& report);

}  // namespace roost::map

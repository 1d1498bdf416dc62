// What becomes of sorted keys under a model, before there is an image.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/compact/crc8.h"
#include "roost/compact/model_builder.h"
#include "roost/compact/monotone_model.h"
#include "roost/compact/parrot_layout.h"
#include "roost/memory/arena.h"

namespace roost::compact {

struct ParrotEntry {
  uint64_t key = 0;
  uint32_t value = 0;
};

// What becomes of keys that come after the build, and of new values.
enum class InsertionPolicy : uint8_t {
  kStash,  // the paper's: they go to the stash, even where slots are free, and shadow the old value
  kReseed,  // a bucket with a free slot gets another seed; a value is changed where it stands
};

struct ParrotConfig {
  uint32_t key_bits = 48;         // 1 to 64
  uint32_t value_bits = 16;       // 4 to 32; the value of all ones is reserved
  uint32_t fingerprint_bits = 0;  // 0, 8, 12 or 16: fewer strangers get a value
  bool keeps_keys = false;        // no stranger gets one; 8 bytes a slot more
  double load = 0.85;             // keys over slots, above 0 and at most 1; not of steps
  double growth = 1.2;            // of the image until kNoRoom (PAR-10), at least 1
  InsertionPolicy policy = InsertionPolicy::kStash;
  std::optional<ModelChoice> model{};  // else the one of those tried that takes fewest bytes
  bool has_steps = false;              // the model's buckets begin where prefixes can (kSteps)
  uint64_t hash_seed = 1;              // of fingerprints
  ArenaOptions memory{};
};
// A model that was tried, and what it came to.
struct ParrotTrial {
  ModelChoice choice{};
  uint64_t model_bytes = 0;
  uint64_t stashed = 0;      // keys that have no slot, but for failed buckets
  uint64_t longest = 0;      // keys of the fullest bucket
  uint64_t image_bytes = 0;  // as it would be; 0: no such image, a bucket is too full
};
struct ParrotReport {
  uint64_t keys = 0;
  uint64_t buckets = 0;
  uint64_t failed_buckets = 0;  // full ones that no seed tells apart; all their keys are stashed
  uint64_t stashed = 0;
  uint64_t longest_walk = 0;  // entries of the longest run
  ParrotBytes image{};
  uint64_t builder_bytes = 0;  // beside the image
};

// The first seed that gives each of at most four keys a slot of its own; nothing: there is none.
[[nodiscard]] inline std::optional<uint8_t> find_seed(std::span<const uint64_t> keys) {
  for (unsigned seed = 0; seed <= UINT8_MAX; ++seed) {
    unsigned taken = 0;
    for (const uint64_t key : keys) taken |= 1U << slot_of(key, static_cast<uint8_t>(seed));
    if (static_cast<size_t>(std::popcount(taken)) == keys.size()) return static_cast<uint8_t>(seed);
  }
  return {};
}

// Calls visit(bucket, first, count) for each bucket that has keys: those from the first one on.
template <class Visit>
void for_each_bucket(const MonotoneModel& model, std::span<const uint64_t> keys, Visit&& visit) {
  size_t first = 0;
  uint64_t bucket = 0;
  for (size_t at = 0; at < keys.size(); ++at) {
    const uint64_t next = model.bucket_of(keys[at]);
    if (at > first && next != bucket) {
      visit(bucket, first, at - first);
      first = at;
    }
    bucket = next;
  }
  if (!keys.empty()) visit(bucket, first, keys.size() - first);
}

[[nodiscard]] constexpr uint64_t aligned_to_words(uint64_t offset) { return (offset + 7) / 8 * 8; }

// What an image will have: its model, its head, which seeds its buckets get.
struct ParrotPlan {
  BuiltModel model{};
  std::vector<ParrotTrial> trials{};  // the model taken last
  ParrotHead head{};
  std::vector<uint8_t> seeds{};
  std::vector<bool> has_failed{};
  uint64_t stashed = 0;
  uint64_t failed = 0;
};

// Of sorted entries. Errors: as those of ParrotBuilder::build().
[[nodiscard]] Result<ParrotPlan> plan_parrot(const ParrotConfig& config,
                                             std::span<const ParrotEntry> entries);

}  // namespace roost::compact

// Builds and changes a Parrot table (Parrot, section 3): the half that has the keys.
//
//   auto table = ParrotBuilder::build({.key_bits = 48, .value_bits = 16}, entries).value();
//   auto reader = ParrotReader::open(table.image()).value();
//
// A model of the sorted keys gives each its bucket, where the four smallest get a slot each by a
// seed that tells them apart, and the others stand in the stash (parrot_layout.h). The image has no
// keys but the stash's. Which keys there are is known here, so that nothing is erased or changed in
// the name of a key that is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/compact/model_builder.h"
#include "roost/compact/parrot_layout.h"
#include "roost/compact/parrot_reader.h"
#include "roost/compact/stash_space.h"
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

class ParrotBuilder {
 public:
  struct Config {
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
  struct Trial {
    ModelChoice choice{};
    uint64_t model_bytes = 0;
    uint64_t stashed = 0;      // keys that have no slot, but for failed buckets
    uint64_t longest = 0;      // keys of the fullest bucket
    uint64_t image_bytes = 0;  // as it would be; 0: no such image, a bucket is too full
  };
  struct Report {
    uint64_t keys = 0;
    uint64_t buckets = 0;
    uint64_t failed_buckets = 0;  // full ones that no seed tells apart; all their keys are stashed
    uint64_t stashed = 0;
    uint64_t longest_walk = 0;  // entries of the longest run
    ParrotBytes image{};
    uint64_t builder_bytes = 0;  // beside the image
  };

  // Any order of entries. Errors: a number of Config that cannot be; keys that are there twice or
  // too wide, values too wide or reserved; no model fits the keys; memory. Time linear in the keys
  // and in the models tried, beside sorting them.
  static Result<ParrotBuilder> build(const Config& config, std::vector<ParrotEntry> entries);

  ParrotBuilder(ParrotBuilder&&) = default;
  ParrotBuilder& operator=(ParrotBuilder&&) = default;

  // Adds a key, changes its value, takes it out. Time linear in its bucket.
  ChangeOutcome insert(uint64_t key, uint32_t value);
  ChangeOutcome update(uint64_t key, uint32_t value);
  ChangeOutcome erase(uint64_t key);

  [[nodiscard]] std::optional<uint32_t> find(uint64_t key) const;
  // Its keys in rising order, with their values.
  [[nodiscard]] std::vector<ParrotEntry> entries() const;
  [[nodiscard]] uint64_t size() const { return size_; }

  // A table of the same keys, with a model of them as they are now.
  [[nodiscard]] Result<ParrotBuilder> rebuilt() const { return build(config_, entries()); }

  // To be read, by whoever has its bytes; it changes and grows with the table, until the table
  // goes.
  [[nodiscard]] std::span<const std::byte> image() const;
  // A copy with a checksum, for files.
  [[nodiscard]] std::vector<std::byte> exported() const;

  [[nodiscard]] Report report() const;
  // The models that build() tried, the one it took last.
  [[nodiscard]] std::span<const Trial> trials() const { return trials_; }

  // Whether what the image says is what the keys ask for. Linear.
  [[nodiscard]] std::optional<std::string> audit() const;

 private:
  // A key's bucket, and where in it the key stands.
  struct Place {
    uint64_t bucket = 0;
    std::optional<uint64_t> stash{};  // entry
    std::optional<size_t> slot{};     // a stale one if it stands in the stash too
  };

  struct Plan;

  ParrotBuilder(const Config& config, Arena image, const ParrotHead& head, uint64_t entries_max);

  [[nodiscard]] static Result<Arena> map_image(const Config& config, const BuiltModel& model,
                                               ParrotHead& head, uint64_t stashed,
                                               uint64_t& entries_max);
  void fill(std::span<const ParrotEntry> entries, const Plan& plan);
  void fill_bucket(uint64_t bucket, std::span<const ParrotEntry> entries, const Plan& plan);

  // Of the image as it is; what it knows of the stash's size may be old.
  [[nodiscard]] const ParrotReader& reader() const {
    ROOST_ASSERT(reader_.has_value());
    return *reader_;
  }
  [[nodiscard]] ParrotBucket bucket(uint64_t index) const {
    return {head_.shape, bucket_at(index)};
  }
  [[nodiscard]] Place place_of(uint64_t key) const;
  [[nodiscard]] bool is_valid(uint64_t key, uint32_t value) const;
  // Entries of a bucket: those of its slots; those of its run.
  [[nodiscard]] std::vector<ParrotEntry> slots_of(uint64_t bucket) const;
  [[nodiscard]] std::vector<ParrotEntry> run_of(uint64_t bucket) const;
  [[nodiscard]] bool put_in_slots(uint64_t bucket, const ParrotEntry& entry);
  [[nodiscard]] ChangeOutcome put_in_stash(uint64_t bucket, const ParrotEntry& entry);
  // Where the bucket's run is long enough already, or a new one is there.
  [[nodiscard]] bool write_run(uint64_t bucket, std::span<const ParrotEntry> run);
  void write_slots(uint64_t bucket, uint8_t seed, std::span<const ParrotEntry> entries);
  void write_slot(uint64_t bucket, size_t slot, const ParrotEntry& entry);
  void clear_slot(uint64_t bucket, size_t slot);
  void write_entry(uint64_t index, const ParrotEntry& entry);
  void write_head();
  [[nodiscard]] std::optional<std::string> audit_runs() const;
  [[nodiscard]] std::byte* bucket_at(uint64_t bucket) const {
    return image_.data() + head_.buckets_offset + bucket * head_.shape.bucket_bytes();
  }

  Config config_;
  Arena image_;
  ParrotHead head_;
  std::optional<ParrotReader> reader_;
  StashSpace space_;
  std::vector<uint64_t> slot_keys_;
  std::vector<Trial> trials_;
  uint64_t size_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace roost::compact

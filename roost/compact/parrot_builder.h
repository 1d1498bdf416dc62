// Builds and changes a Parrot table (Parrot, section 3): the half that has the keys.
//
//   auto table = ParrotBuilder::build({.key_bits = 48, .value_bits = 16}, entries).value();
//   auto reader = ParrotReader::open(table.image()).value();
//
// A model of the sorted keys gives each its bucket, where the four smallest get a slot each by a
// seed that tells them apart, and the others stand in the stash (parrot_layout.h). The image has no
// keys but the stash's. Which keys there are is known here, so that nothing is erased or changed in
// the name of a key that is not there.
//
// Readers of a SharedImage may read while it changes
// (docs/decisions/0048-value-only-tables-shared.md). The definitions are in parrot_builder_impl.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/compact/parrot_layout.h"
#include "roost/compact/parrot_plan.h"
#include "roost/compact/parrot_reader.h"
#include "roost/compact/stash_space.h"
#include "roost/memory/arena.h"

namespace roost::compact {

// `Words` stores what readers of a SharedImage may read meanwhile. One thread at a time.
template <class Words>
class BasicParrotBuilder {
 public:
  using KeyType = uint64_t;
  using Entry = ParrotEntry;
  using Config = ParrotConfig;
  using Trial = ParrotTrial;
  using Report = ParrotReport;
  using SharedReader = BasicParrotReader<BasicSharedImage<Words>>;

  // Any order of entries. Errors: a number of Config that cannot be; keys that are there twice or
  // too wide, values too wide or reserved; no model fits the keys; memory. Time linear in the keys
  // and in the models tried, beside sorting them.
  static Result<BasicParrotBuilder> build(const Config& config, std::vector<ParrotEntry> entries);

  // Adds a key, changes its value, takes it out. Time linear in its bucket.
  ChangeOutcome insert(uint64_t key, uint32_t value);
  ChangeOutcome update(uint64_t key, uint32_t value);
  ChangeOutcome erase(uint64_t key);

  [[nodiscard]] std::optional<uint32_t> find(uint64_t key) const;
  // Its keys in rising order, with their values.
  [[nodiscard]] std::vector<ParrotEntry> entries() const;
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] const Config& config() const { return config_; }

  // A table of the same keys, with a model of them as they are now.
  [[nodiscard]] Result<BasicParrotBuilder> rebuilt() const { return build(config_, entries()); }

  // To be read, by whoever has its bytes; it changes and grows with the table, until the table
  // goes.
  [[nodiscard]] std::span<const std::byte> image() const {
    return {image_.data(), head_.image.image_bytes};
  }
  // To be read while it changes; it must not outlive the table, nor be asked for during a change.
  [[nodiscard]] SharedReader shared_reader() const {
    return SharedReader::of_builder(image(), *versions_, space_.capacity());
  }
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

  using Versions = VersionedAccess<Words>;
  static constexpr uint64_t kVersionsMax = 4'096;

  BasicParrotBuilder(const Config& config, Arena image, const ParrotHead& head,
                     uint64_t entries_max);

  [[nodiscard]] static Result<Arena> map_image(const Config& config, ParrotPlan& plan,
                                               uint64_t& entries_max);
  void fill(std::span<const ParrotEntry> entries, const ParrotPlan& plan);
  void fill_bucket(uint64_t bucket, std::span<const ParrotEntry> entries, const ParrotPlan& plan);

  // Of the image as it is; what it knows of the stash's size may be old.
  [[nodiscard]] const ParrotReader& reader() const {
    ROOST_ASSERT(reader_.has_value());
    return *reader_;
  }
  [[nodiscard]] ParrotBucket<StillImage> bucket(uint64_t index) const {
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
  void store_slot(uint64_t bucket, size_t slot, uint64_t word);
  void write_entry(uint64_t index, const ParrotEntry& entry);
  // While it lives, readers of the bucket wait.
  [[nodiscard]] auto step(uint64_t bucket) const { return versions_->step(BucketIndex{bucket}); }
  void write_head();
  [[nodiscard]] std::optional<std::string> audit_runs() const;
  [[nodiscard]] std::byte* bucket_at(uint64_t bucket) const {
    return image_.data() + head_.buckets_offset + bucket * head_.shape.bucket_bytes();
  }

  Config config_;
  Arena image_;
  ParrotHead head_;
  std::optional<ParrotReader> reader_;
  std::unique_ptr<Versions> versions_;
  StashSpace space_;
  std::vector<uint64_t> slot_keys_;
  std::vector<Trial> trials_;
  uint64_t size_ = 0;
  uint64_t failed_ = 0;
};

extern template class BasicParrotBuilder<AtomicWords>;
using ParrotBuilder = BasicParrotBuilder<AtomicWords>;

}  // namespace roost::compact

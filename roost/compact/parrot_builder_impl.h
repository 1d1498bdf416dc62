// Definitions of BasicParrotBuilder: the build. Changes are in parrot_changes_impl.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "roost/base/assert.h"
#include "roost/compact/parrot_builder.h"
#include "roost/compact/parrot_changes_impl.h"

namespace roost::compact {

template <class Words>
Result<BasicParrotBuilder<Words>> BasicParrotBuilder<Words>::build(
    const Config& config, std::vector<ParrotEntry> entries) {
  const auto is_before = [](const ParrotEntry& a, const ParrotEntry& b) { return a.key < b.key; };
  if (!std::ranges::is_sorted(entries, is_before)) std::ranges::sort(entries, is_before);
  auto plan = plan_parrot(config, entries);
  if (!plan) return plan.error();
  uint64_t entries_max = 0;
  auto image = map_image(config, plan.value(), entries_max);
  if (!image) return image.error();
  BasicParrotBuilder builder(config, std::move(image).value(), plan.value().head, entries_max);
  builder.trials_ = std::move(plan.value().trials);
  builder.fill(entries, plan.value());
  return builder;
}

// The head says how much of it is used; write_head() goes on with that.
template <class Words>
Result<Arena> BasicParrotBuilder<Words>::map_image(const Config& config, ParrotPlan& plan,
                                                   uint64_t& entries_max) {
  const ParrotHead& head = plan.head;
  const size_t entry_bytes = head.shape.entry_bytes();
  const uint64_t used = head.stash_offset + plan.stashed * entry_bytes + kImagePadding;
  const auto limit = static_cast<uint64_t>(static_cast<double>(used) * config.growth);
  entries_max = plan.stashed + (limit - used) / entry_bytes;
  auto image = Arena::map(aligned_to_words(limit), config.memory);
  if (!image) return image.error();
  std::byte* const lines = image.value().data() + head.lines_offset;
  const BuiltModel& model = plan.model;
  const size_t line_bytes = model.lines.size() * sizeof(ModelLine);
  std::memcpy(lines, model.lines.data(), line_bytes);
  if (!model.prefixes.empty()) {
    std::memcpy(lines + line_bytes, model.prefixes.data(),
                model.prefixes.size() * sizeof model.prefixes[0]);
  }
  return image;
}

template <class Words>
BasicParrotBuilder<Words>::BasicParrotBuilder(const Config& config, Arena image,
                                              const ParrotHead& head, uint64_t entries_max)
    : config_(config),
      image_(std::move(image)),
      head_(head),
      versions_(std::make_unique<Versions>(AccessShape{
          .hashed_buckets = head.bucket_count,
          .version_counters = std::bit_floor(std::min(head.bucket_count, kVersionsMax))})),
      space_(entries_max),
      slot_keys_(head.bucket_count * kBucketSlots) {}

template <class Words>
void BasicParrotBuilder<Words>::fill(std::span<const ParrotEntry> entries, const ParrotPlan& plan) {
  size_ = entries.size();
  failed_ = plan.failed;
  write_head();
  reader_.emplace(ParrotReader::open(image()).value());
  const MonotoneModel model = reader_->model();
  size_t first = 0;
  for (uint64_t bucket = 0; bucket < head_.bucket_count; ++bucket) {
    size_t past = first;
    while (past < entries.size() && model.bucket_of(entries[past].key) == bucket) ++past;
    fill_bucket(bucket, entries.subspan(first, past - first), plan);
    first = past;
  }
  ROOST_ASSERT(first == entries.size() && space_.taken() == plan.stashed);
  write_head();
}

template <class Words>
void BasicParrotBuilder<Words>::fill_bucket(uint64_t bucket, std::span<const ParrotEntry> entries,
                                            const ParrotPlan& plan) {
  const size_t in_slots = plan.has_failed[bucket] ? 0 : std::min(entries.size(), kBucketSlots);
  write_slots(bucket, plan.seeds[bucket], entries.first(in_slots));
  const bool has_room = write_run(bucket, entries.subspan(in_slots));
  ROOST_ASSERT(has_room);
}

template <class Words>
std::vector<std::byte> BasicParrotBuilder<Words>::exported() const {
  std::vector<std::byte> bytes(image().begin(), image().end());
  seal_image(bytes);
  return bytes;
}

}  // namespace roost::compact

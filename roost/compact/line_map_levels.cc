#include "roost/compact/line_map_levels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "roost/base/assert.h"
#include "roost/compact/line_draft.h"
#include "roost/compact/lookup_groups.h"
#include "roost/hash/random_seed.h"
#include "roost/hash/split_mix.h"

namespace roost::compact {
namespace {

// A level behind the first one has room for a quarter more keys than come there when the one before
// is as full as it should be, since inserts send some. The last one has room for ten times as many
// and some lines at least: where keys come and go, each level sends up to three times the share of
// its keys further that it sent when it was built, and behind the last one is nothing.
constexpr double kSpare = 1.25;
constexpr double kLoadOfLast = 0.1;
constexpr uint64_t kLinesOfLastMin = 8;

}  // namespace

Result<LineMapLevels> LineMapLevels::create(const LineMapConfig& config, size_t key_bytes) {
  if (auto wrong = wrong_widths(config.value_bits, config.fingerprint_bits)) return *wrong;
  if (!(config.load > 0 && config.load <= 0.97))
    return Error{"load: give more than 0 and at most 0.97"};
  uint64_t seed = config.hash_seed ? *config.hash_seed : random_seed();
  const LineMapHead head{
      .image = {.magic = kImageMagic, .version = kImageVersion, .kind = ImageKind::kLineMap},
      .shape = {.value_bits = config.value_bits, .fingerprint_bits = config.fingerprint_bits},
      .key_bytes = static_cast<uint32_t>(key_bytes)};
  return LineMapLevels(config, head, seed);
}

std::optional<Error> LineMapLevels::add_level(uint64_t keys, bool is_last) {
  ROOST_ASSERT(head_.level_count < kLevelsMax);
  const bool is_first = head_.level_count == 0;
  const double slots = slots_of_level(keys, is_last);
  LineLevel& level = head_.levels[head_.level_count];
  level.hash_seed = split_mix(seeds_);
  level.line_count = std::max(static_cast<uint64_t>(std::ceil(slots / head_.shape.slots())) + 1,
                              is_last ? kLinesOfLastMin : 1);
  const LineLevel* const before = is_first ? nullptr : &head_.levels[head_.level_count - 1];
  level.offset = is_first ? kLineMapHeadBytes : before->offset + before->line_count * kLineBytes;
  const uint64_t bytes = level.offset + level.line_count * kLineBytes;
  if (auto error = grow(bytes + bytes / 8)) return error;  // the next levels are small
  ++head_.level_count;
  head_.image.image_bytes = bytes;
  const LineGeometry geometry(head_.shape);
  const LineDraft empty(geometry);
  for (uint64_t line = 0; line < level.line_count; ++line)
    empty.write(line_at(head_.level_count - 1, line));
  write_head();
  return {};
}

std::optional<Error> LineMapLevels::grow(uint64_t bytes) {
  if (image_.size() >= bytes) return {};
  auto arena = Arena::map(bytes, config_.memory);
  if (!arena) return arena.error();
  if (!image_.empty()) std::memcpy(arena.value().data(), image_.data(), head_.image.image_bytes);
  arena_.emplace(std::move(arena).value());
  image_ = {arena_->data(), arena_->bytes()};
  return {};
}

std::optional<Error> LineMapLevels::add_keys() {
  ROOST_ASSERT(!has_keys());
  const LineLevel& last = head_.levels[head_.level_count - 1];
  const uint64_t begin = last.offset + last.line_count * kLineBytes;
  const uint64_t lines = (begin - kLineMapHeadBytes) / kLineBytes;
  const uint64_t bytes = begin + lines * head_.shape.slots() * head_.key_bytes;
  if (auto error = grow(bytes)) return error;
  head_.keys_offset = begin;
  head_.image.image_bytes = bytes;
  write_head();
  return {};
}

double LineMapLevels::slots_of_level(uint64_t keys, bool is_last) {
  const size_t level = head_.level_count;
  const auto count = static_cast<double>(keys);
  if (level == 0) {
    keys_ = keys;
    return count / config_.load;
  }
  if (level == 1) further_share_ = keys_ == 0 ? 0 : count / static_cast<double>(keys_);
  const auto slots_before =
      static_cast<double>(head_.levels[level - 1].line_count * head_.shape.slots());
  const double wanted = std::max(count, slots_before * config_.load * further_share_);
  return wanted * kSpare / (is_last ? kLoadOfLast : config_.load);
}

void LineMapLevels::drop_level() {
  ROOST_ASSERT(head_.level_count > 0);
  head_.image.image_bytes = head_.levels[--head_.level_count].offset;
  head_.levels[head_.level_count] = {};
  write_head();
}

std::optional<Error> LineMapLevels::move_to(std::span<std::byte> memory) {
  if (memory.size() < image().size()) {
    return Error{"the image needs " + std::to_string(image().size()) +
                 " bytes, and the memory has " + std::to_string(memory.size())};
  }
  auto arena = Arena::borrow(memory);
  if (!arena) return arena.error();
  std::memcpy(memory.data(), image_.data(), image().size());
  image_ = memory;
  arena_.emplace(std::move(arena).value());
  return {};
}

void LineMapLevels::write_head() { std::memcpy(image_.data(), &head_, sizeof head_); }

}  // namespace roost::compact

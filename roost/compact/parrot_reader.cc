#include "roost/compact/parrot_reader.h"

#include <bit>

namespace roost::compact {
namespace {

// Whether the parts lie one behind the other, in the image and in this order.
bool parts_fit(const ParrotHead& head, uint64_t image_bytes) {
  const ParrotShape& shape = head.shape;
  const uint64_t keys = shape.has_keys != 0 ? kBucketSlots * sizeof(uint64_t) : 0;
  // With fewer buckets and entries than bytes no product below is too large for its word.
  if (head.bucket_count > image_bytes || head.entry_count > image_bytes) return false;
  return head.lines_offset >= sizeof(ParrotHead) && head.lines_offset % sizeof(uint64_t) == 0 &&
         head.lines_offset <= head.buckets_offset &&
         head.lines_offset + MonotoneModel::bytes_of(head.model) <= head.buckets_offset &&
         head.buckets_offset <= head.keys_offset &&
         head.buckets_offset + head.bucket_count * shape.bucket_bytes() <= head.keys_offset &&
         head.keys_offset <= head.stash_offset &&
         head.keys_offset + head.bucket_count * keys <= head.stash_offset &&
         head.stash_offset <= image_bytes &&
         head.stash_offset + head.entry_count * shape.entry_bytes() + kImagePadding <= image_bytes;
}

bool is_shape(const ParrotShape& shape) {
  return shape.key_bits >= 1 && shape.key_bits <= 64 && shape.has_keys <= 1 &&
         !wrong_widths(shape.value_bits, shape.fingerprint_bits);
}

bool is_model(const ModelHead& model) {
  if (model.kind > ModelKind::kSteps || model.line_count == 0 || model.first_key > model.last_key)
    return false;
  if (model.root_shift >= 64) return false;
  const uint64_t run = (model.last_key - model.first_key) >> model.root_shift;
  if (model.kind != ModelKind::kRmi) return run < model.prefix_count;
  return run <= UINT32_MAX && (run * model.root_slope >> 32) < model.line_count;
}

}  // namespace

ParrotReader::ParrotReader(const ParrotHead& head, std::span<const std::byte> image)
    : head_(head),
      model_(head.model, reinterpret_cast<const ModelLine*>(image.data() + head.lines_offset),
             reinterpret_cast<const uint32_t*>(image.data() + head.lines_offset +
                                               (uint64_t{head.model.line_count} + 1) *
                                                   sizeof(ModelLine))),
      hash_(head.hash_seed),
      bucket_bytes_(head.shape.bucket_bytes()),
      entry_bytes_(head.shape.entry_bytes()),
      buckets_(image.data() + head.buckets_offset),
      keys_(image.data() + head.keys_offset),
      stash_(image.data() + head.stash_offset) {}

Result<ParrotReader> ParrotReader::open(std::span<const std::byte> image) {
  if (reinterpret_cast<uintptr_t>(image.data()) % alignof(uint64_t) != 0)
    return Error{"the image must begin at a multiple of 8 bytes"};
  const auto kind = read_image_head(image, ImageKind::kParrot);
  if (!kind) return kind.error();
  ParrotHead head;
  if (image.size() < sizeof head) return Error{"the image is cut within its head"};
  std::memcpy(&head, image.data(), sizeof head);
  if (!is_shape(head.shape) || !is_model(head.model) || head.bucket_count == 0 ||
      !parts_fit(head, image.size())) {
    return Error{"the image's head says what cannot be: it was changed"};
  }
  return ParrotReader(head, image);
}

size_t ParrotReader::lookup_unverified(std::span<const uint64_t> keys, std::span<uint32_t> values,
                                       HitWords maybe) const {
  return look_up_in_groups(keys, values, maybe,
                           [this](std::span<const uint64_t> group, std::span<uint32_t> into) {
                             return look_up(group, into);
                           });
}

uint32_t ParrotReader::look_up(std::span<const uint64_t> keys, std::span<uint32_t> values) const {
  std::array<uint64_t, kGroupLanes> indices;
  for (size_t lane = 0; lane < keys.size(); ++lane) {
    indices[lane] = model_.bucket_of(keys[lane]);
    const std::byte* const at = buckets_ + indices[lane] * bucket_bytes_;
    __builtin_prefetch(at);
    __builtin_prefetch(at + bucket_bytes_ - 1);
  }
  uint32_t found = 0;
  uint32_t may_be_stashed = 0;
  for (size_t lane = 0; lane < keys.size(); ++lane) {
    const ParrotBucket at = bucket(indices[lane]);
    const StashWord stash = at.stash();
    const size_t slot = slot_of(keys[lane], at.seed());
    const uint64_t word = at.slot(slot);
    const auto value = static_cast<uint32_t>(word) & head_.shape.absent();
    const bool is_there =
        value != head_.shape.absent() &&
        word >> head_.shape.value_bits == fingerprint_of(keys[lane]) &&
        (head_.shape.has_keys == 0 || key_of_slot(indices[lane], slot) == keys[lane]);
    if (is_there) values[lane] = value;
    found |= uint32_t{is_there} << lane;
    if (!stash.may_have(keys[lane])) continue;
    may_be_stashed |= uint32_t{1} << lane;
    __builtin_prefetch(stash_ + stash.first() * entry_bytes_);
  }
  for (; may_be_stashed != 0; may_be_stashed &= may_be_stashed - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(may_be_stashed));
    const auto value = find_in_stash(bucket(indices[lane]).stash(), keys[lane]);
    if (!value) continue;
    values[lane] = *value;
    found |= uint32_t{1} << lane;
  }
  return found;
}

std::optional<uint32_t> ParrotReader::find_in_stash(StashWord stash, uint64_t key) const {
  for (uint64_t i = stash.first(); i < stash.first() + stash.count(); ++i) {
    const StashEntry entry = stash_entry(i);
    if (entry.key == key) return entry.value;
    if (entry.key > key) break;
  }
  return {};
}

ParrotBytes ParrotReader::bytes() const {
  return {.head = head_.lines_offset,
          .model = head_.buckets_offset - head_.lines_offset,
          .buckets = head_.keys_offset - head_.buckets_offset,
          .keys = head_.stash_offset - head_.keys_offset,
          .stash = head_.image.image_bytes - head_.stash_offset};
}

std::optional<std::string> ParrotReader::audit() const {
  const std::span<const ModelLine> lines = model_.lines();
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].key > lines[i + 1].key || lines[i].place > lines[i + 1].place ||
        lines[i].key_shift >= 64 || lines[i].slope_shift >= 64)
      return "line " + std::to_string(i) + " of the model falls";
  }
  if (lines.back().place >> kFractionBits >= head_.bucket_count)
    return "the model leads behind the last bucket";
  const std::span<const uint32_t> prefixes = model_.prefixes();
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i] >= head_.model.line_count || (i > 0 && prefixes[i] < prefixes[i - 1]))
      return "prefix " + std::to_string(i) + " of the model leads to no line";
  }
  for (uint64_t index = 0; index < head_.bucket_count; ++index)
    if (auto wrong = audit_bucket(index)) return wrong;
  return {};
}

std::optional<std::string> ParrotReader::audit_bucket(uint64_t index) const {
  const auto wrong = [&](const char* what) { return "bucket " + std::to_string(index) + what; };
  const ParrotBucket at = bucket(index);
  const StashWord stash = at.stash();
  if (stash.count() > kStashWalkMax) return wrong(" has more entries in the stash than it may");
  if (stash.first() + stash.count() > head_.entry_count)
    return wrong(" leads behind the end of the stash");
  uint16_t filter = 0;
  for (size_t i = 0; i < stash.count(); ++i) {
    const StashEntry entry = stash_entry(stash.first() + i);
    if (model_.bucket_of(entry.key) != index) return wrong(" has a key of another one");
    if (i > 0 && entry.key <= stash_entry(stash.first() + i - 1).key)
      return wrong(" has entries of the stash that are not sorted");
    filter |= static_cast<uint16_t>(1U << StashWord::filter_bit(entry.key));
  }
  if (filter != stash.filter()) return wrong(" has a filter of other keys");
  return {};
}

}  // namespace roost::compact

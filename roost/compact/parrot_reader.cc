#include "roost/compact/parrot_reader.h"

#include <cstring>

#include "roost/compact/parrot_reader_impl.h"

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
  if (model.root_shift >= 64 || model.scale_bits >= 32) return false;
  const uint64_t whole_run = model.last_key - model.first_key;
  if (model.kind != ModelKind::kRmi) return prefix_of(model, whole_run) < model.prefix_count;
  const uint64_t run = whole_run >> model.root_shift;
  return run <= UINT32_MAX && (run * model.root_slope >> 32) < model.line_count;
}

}  // namespace

Result<ParrotHead> open_parrot(std::span<const std::byte> image) {
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
  return head;
}

template class BasicParrotReader<StillImage>;
template class BasicParrotReader<SharedImage>;

}  // namespace roost::compact

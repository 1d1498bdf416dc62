#include "roost/compact/line_map_reader.h"

namespace roost::compact {

Result<LineMapHead> open_line_map(std::span<const std::byte> image, size_t key_bytes) {
  if (reinterpret_cast<uintptr_t>(image.data()) % kLineBytes != 0)
    return Error{"the image must begin at a multiple of 64 bytes"};
  const auto kind = read_image_head(image, ImageKind::kLineMap);
  if (!kind) return kind.error();
  if (image.size() < kLineMapHeadBytes) return Error{"the image is cut within its head"};
  LineMapHead head;
  std::memcpy(&head, image.data(), sizeof head);
  const LineShape& shape = head.shape;
  bool is_right = !wrong_widths(shape.value_bits, shape.fingerprint_bits) &&
                  head.level_count >= 1 && head.level_count <= kLevelsMax;
  uint64_t offset = kLineMapHeadBytes;
  for (size_t level = 0; is_right && level < head.level_count; ++level) {
    const LineLevel& at = head.levels[level];
    is_right =
        at.line_count >= 1 && at.line_count <= image.size() / kLineBytes && at.offset == offset;
    offset += at.line_count * kLineBytes;
  }
  if (head.keys_offset != 0) {
    is_right = is_right && head.keys_offset == offset && head.key_bytes <= kLineBytes;
    offset += (offset - kLineMapHeadBytes) / kLineBytes * shape.slots() * head.key_bytes;
  }
  if (!is_right || offset != image.size())
    return Error{"the image's head says what cannot be: it was changed"};
  if (head.key_bytes != key_bytes) {
    return Error{"the image is for keys of " + std::to_string(head.key_bytes) + " bytes, not " +
                 std::to_string(key_bytes)};
  }
  return head;
}

}  // namespace roost::compact

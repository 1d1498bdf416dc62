#include "roost/compact/image_head.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "roost/base/assert.h"
#include "roost/hash/split_mix.h"

namespace roost::compact {

uint64_t image_checksum(std::span<const std::byte> image) {
  ROOST_ASSERT(image.size() >= sizeof(ImageHead));
  uint64_t sum = image.size();
  for (size_t at = sizeof(ImageHead); at < image.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, image.data() + at, std::min(sizeof word, image.size() - at));
    uint64_t state = sum ^ word;
    sum = split_mix(state);
  }
  return sum == 0 ? 1 : sum;
}

void seal_image(std::span<std::byte> image) {
  const uint64_t sum = image_checksum(image);
  std::memcpy(image.data() + offsetof(ImageHead, checksum), &sum, sizeof sum);
}

Result<ImageHead> read_image_head(std::span<const std::byte> image, ImageKind kind) {
  ImageHead head;
  if (image.size() < sizeof head) return Error{"this is no image: it is too short to have a head"};
  std::memcpy(&head, image.data(), sizeof head);
  if (head.magic != kImageMagic) return Error{"this is no image of a value-only table"};
  if (head.version != kImageVersion) {
    return Error{"the image has version " + std::to_string(head.version) + ", not " +
                 std::to_string(kImageVersion) + "; build it anew"};
  }
  if (head.kind != kind) return Error{"the image is that of another kind of table"};
  if (head.image_bytes != image.size()) {
    return Error{"the image should have " + std::to_string(head.image_bytes) + " bytes and has " +
                 std::to_string(image.size()) + ": it is cut, or something follows it"};
  }
  if (head.checksum != 0 && head.checksum != image_checksum(image))
    return Error{"the image's checksum is wrong: its bytes were changed"};
  return head;
}

}  // namespace roost::compact

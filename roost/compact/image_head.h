// How an image of a value-only table begins: what it is, and whether all of it is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "roost/base/result.h"

namespace roost::compact {

enum class ImageKind : uint32_t { kParrot = 1, kLineMap = 2 };

// Bytes are those of the machine: little-endian.
struct ImageHead {
  std::array<char, 8> magic{};
  uint32_t version = 0;
  ImageKind kind{};
  uint64_t image_bytes = 0;
  uint64_t checksum = 0;  // of what follows the head, when the image was exported; else 0
};
static_assert(sizeof(ImageHead) == 32);

inline constexpr std::array<char, 8> kImageMagic = {'R', 'O', 'O', 'S', 'T', 'V', 'A', 'L'};
inline constexpr uint32_t kImageVersion = 3;

// Of all bytes behind the head. Linear.
[[nodiscard]] uint64_t image_checksum(std::span<const std::byte> image);
// The image as a file has it: with its checksum.
void seal_image(std::span<std::byte> image);

// The head of an image of this kind that is all there; the checksum is compared if it has one.
// Errors: foreign, cut, changed, of another version. Linear if there is a checksum.
[[nodiscard]] Result<ImageHead> read_image_head(std::span<const std::byte> image, ImageKind kind);

}  // namespace roost::compact

#include "roost/classify/rule_product.h"

#include <bit>

namespace roost::classify {

std::vector<AlignedBlock> aligned_blocks(uint16_t first, uint16_t last) {
  std::vector<AlignedBlock> blocks;
  for (uint32_t next = first; next <= last;) {
    // As large as it can begin here, and as it may not end behind the range.
    uint32_t size = next == 0 ? 1U << 16 : uint32_t{1} << std::countr_zero(next);
    while (next + size - 1 > last) size /= 2;
    blocks.push_back({static_cast<uint16_t>(next), static_cast<uint16_t>(~(size - 1))});
    next += size;
  }
  return blocks;
}

}  // namespace roost::classify

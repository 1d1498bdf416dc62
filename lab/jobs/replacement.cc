#include "lab/jobs/replacement.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace roost::lab {
namespace {

// Near the golden section, where places that follow each other in time are far from each other.
uint64_t stride_over(uint64_t place_count) {
  uint64_t stride = std::max<uint64_t>(place_count * 618 / 1000, 1);
  while (std::gcd(stride, place_count) != 1) ++stride;
  return stride;
}

}  // namespace

AnyTable::Inserted replace_entries(AnyTable& table, const traffic::KeySource& keys,
                                   const Replacement& replacement) {
  constexpr uint64_t kChunk = uint64_t{1} << 14;
  const uint64_t stride = stride_over(replacement.place_count);
  uint64_t place = 0;
  std::vector<Key> leaving;
  std::vector<Key> arriving;
  AnyTable::Inserted replaced;
  for (uint64_t step = 0; step < replacement.step_count; step += leaving.size()) {
    leaving.clear();
    arriving.clear();
    while (leaving.size() < std::min(kChunk, replacement.step_count - step)) {
      leaving.push_back(keys.inserted(first_key_of(replacement.leaving) + place));
      arriving.push_back(keys.inserted(first_key_of(replacement.arriving) + place));
      place = (place + stride) % replacement.place_count;
    }
    const AnyTable::Inserted chunk = table.replace({leaving, arriving});
    replaced.stored += chunk.stored;
    replaced.seconds += chunk.seconds;
    if (chunk.stored < leaving.size()) break;
  }
  return replaced;
}

}  // namespace roost::lab

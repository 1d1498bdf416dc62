#include "roost/compact/line_filling.h"

#include <algorithm>
#include <numeric>

namespace roost::compact {

LineSeeds fill_line(const LineShape& shape, std::span<const LineItem> items) {
  const uint32_t groups = shape.groups();
  std::array<uint32_t, kSlotsMax / 2> sizes{};
  for (const LineItem& item : items) ++sizes[item.group];
  std::array<uint32_t, kSlotsMax / 2> order{};
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(std::span(order).first(groups),
                           [&](uint32_t a, uint32_t b) { return sizes[a] > sizes[b]; });
  LineSeeds seeds{};
  SlotSet taken = 0;
  std::array<uint32_t, kSlotsMax> words;
  for (const uint32_t group : std::span(order).first(groups)) {
    if (sizes[group] == 0) break;
    seeds[group] = kSeedFurther;
    if (sizes[group] > shape.slots()) continue;
    size_t count = 0;
    for (const LineItem& item : items)
      if (item.group == group) words[count++] = item.word;
    SlotSet chosen = 0;
    const auto seed = find_group_seed(shape.slots(), std::span(words).first(count), taken, chosen);
    if (!seed) continue;
    seeds[group] = *seed;
    taken |= chosen;
  }
  return seeds;
}

}  // namespace roost::compact

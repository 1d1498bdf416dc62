#include "sim/cached_start.h"

#include <algorithm>

namespace roost::sim {

namespace {

// A prime that is larger than any number of lines here: its multiples go through all of them in an
// order without a pattern that sets would see.
constexpr uint64_t kStride = 2'654'435'761;

// Calls put(line) for the lines that are drawn from the first-th to the last-th.
template <class Put>
void for_each_drawn(uint64_t table, uint64_t lines, uint64_t first, uint64_t last, Put&& put) {
  for (uint64_t i = first; i < last; ++i) put(table + i * kStride % lines);
}

}  // namespace

void begin_cached(MemorySystem& memory, uint64_t address, uint64_t bytes, uint32_t cores) {
  const Parameters& parameters = memory.parameters();
  const uint64_t table = line_of(address);
  const uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  ROOST_ASSERT(lines > 0 && lines < kStride);
  const uint64_t room = parameters.llc_slice_bytes / kLineBytes * parameters.tiles();
  const uint64_t drawn = std::min(lines, room);
  for_each_drawn(table, lines, 0, drawn,
                 [&](uint64_t line) { memory.home_of(line).begin_with(line); });
  // Those that came last: an inclusive slice has them still.
  const uint64_t near = std::min<uint64_t>(drawn, parameters.l2_bytes / kLineBytes);
  for (Tile core = 0; core < cores; ++core) {
    for_each_drawn(table, lines, drawn - near, drawn, [&](uint64_t line) {
      if (memory.home_of(line).begin_shared(line, core)) memory.cache(core).begin_with(line);
    });
  }
}

}  // namespace roost::sim

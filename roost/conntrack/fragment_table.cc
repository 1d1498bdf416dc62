#include "roost/conntrack/fragment_table.h"

#include <algorithm>
#include <span>

namespace roost::conntrack {

namespace {

// Puts a part between its neighbours, or makes one of those longer; false when there is no room.
bool insert_range(Datagram& datagram, FragmentRange part) {
  auto* const ranges = datagram.ranges.data();
  size_t at = 0;
  while (at < datagram.range_count && ranges[at].begin < part.begin) ++at;
  const bool joins_left = at > 0 && ranges[at - 1].end == part.begin;
  const bool joins_right = at < datagram.range_count && ranges[at].begin == part.end;
  if (joins_left && joins_right) {
    ranges[at - 1].end = ranges[at].end;
    std::move(ranges + at + 1, ranges + datagram.range_count, ranges + at);
    --datagram.range_count;
  } else if (joins_left) {
    ranges[at - 1].end = part.end;
  } else if (joins_right) {
    ranges[at].begin = part.begin;
  } else {
    if (datagram.range_count == Datagram::kRangesMax) return false;
    std::move_backward(ranges + at, ranges + datagram.range_count,
                       ranges + datagram.range_count + 1);
    ranges[at] = part;
    ++datagram.range_count;
  }
  return true;
}

}  // namespace

PartVerdict note_part(Datagram& datagram, const net::Fragment& fragment) {
  const FragmentRange part = {static_cast<uint16_t>(fragment.offset / 8),
                              static_cast<uint16_t>((fragment.offset + fragment.bytes + 7) / 8)};
  const std::span<const FragmentRange> ranges(datagram.ranges.data(), datagram.range_count);
  if (datagram.is_bad) return PartVerdict::kBad;
  const auto touches = [&](FragmentRange other) {
    return part.begin < other.end && other.begin < part.end;
  };
  const auto holds = [&](FragmentRange other) {
    return other.begin <= part.begin && part.end <= other.end;
  };
  const bool is_beyond_end = datagram.end != 0 && part.end > datagram.end;
  const bool is_other_end = fragment.is_last && datagram.end != 0 && part.end != datagram.end;
  const bool is_end_within = fragment.is_last && !ranges.empty() && ranges.back().end > part.end;
  if (is_beyond_end || is_other_end || is_end_within) {
    datagram.is_bad = true;
    return PartVerdict::kBad;
  }
  if (std::ranges::any_of(ranges, holds)) return PartVerdict::kRepeated;
  if (std::ranges::any_of(ranges, touches)) {
    datagram.is_bad = true;
    return PartVerdict::kBad;
  }
  if (!insert_range(datagram, part)) return PartVerdict::kTooMany;
  if (fragment.is_last) datagram.end = part.end;
  return PartVerdict::kNew;
}

}  // namespace roost::conntrack

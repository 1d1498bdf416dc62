#include "apps/trafficgen/datapath/packet_stats.h"

#include <algorithm>

namespace roost::trafficgen {

void PacketStats::begin_slice(uint64_t due, uint32_t step) {
  while (steps_.size() <= step) steps_.emplace_back();
  if (slices_.size() >= kOpenSlices) {
    const size_t closed = slices_.size() - kOpenSlices;
    const SecondSummary summary = summary_of(closed);
    slices_[closed].p50 = summary.p50;
    slices_[closed].p99 = summary.p99;
    slices_[closed].greatest = summary.greatest;
    LogHistogram& times = open_[closed % kOpenSlices];
    steps_[slices_[closed].step] += times;
    times.clear();
  }
  const uint64_t second = due / kSecond;
  slices_.push_back({.second = second, .step = step});
  slice_end_ = (second + 1) * kSecond;
}

SecondSummary PacketStats::summary_of(size_t slice) const {
  const Slice& one = slices_[slice];
  if (!is_open(slice)) return {one.counts, one.p50, one.p99, one.greatest};
  const LogHistogram& times = open_[slice % kOpenSlices];
  return {one.counts, times.quantile(0.5), times.quantile(0.99), times.greatest()};
}

PacketCounts PacketStats::counts() const {
  PacketCounts counts;
  for (const Slice& slice : slices_) counts += slice.counts;
  return counts;
}

PacketCounts PacketStats::counts_of_step(size_t step) const {
  PacketCounts counts;
  for (const Slice& slice : slices_)
    if (slice.step == step) counts += slice.counts;
  return counts;
}

Interval PacketStats::step(size_t step) const {
  Interval interval{counts_of_step(step), steps_[step]};
  for (size_t slice = 0; slice < slices_.size(); ++slice)
    if (is_open(slice) && slices_[slice].step == step)
      interval.nanoseconds += open_[slice % kOpenSlices];
  return interval;
}

Interval PacketStats::total() const {
  Interval total;
  for (size_t one = 0; one < steps_.size(); ++one) {
    const Interval interval = step(one);
    total.counts += interval.counts;
    total.nanoseconds += interval.nanoseconds;
  }
  return total;
}

// Where two steps share a second, its quantiles are those of the slice with more packets.
std::vector<SecondSummary> PacketStats::seconds() const {
  std::vector<SecondSummary> seconds;
  std::vector<uint64_t> greatest_slice;
  for (size_t slice = 0; slice < slices_.size(); ++slice) {
    const uint64_t second = slices_[slice].second;
    if (second >= seconds.size()) seconds.resize(second + 1);
    greatest_slice.resize(seconds.size());
    SecondSummary& one = seconds[second];
    const SecondSummary part = summary_of(slice);
    one.counts += part.counts;
    one.greatest = std::max(one.greatest, part.greatest);
    if (part.counts.returned < greatest_slice[second]) continue;
    greatest_slice[second] = part.counts.returned;
    one.p50 = part.p50;
    one.p99 = part.p99;
  }
  return seconds;
}

}  // namespace roost::trafficgen

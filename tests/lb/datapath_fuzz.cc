// Any bytes as a sequence of frames: the datapath decides each, touches nothing outside it, and its
// counts close.
//
// The input is cut into frames: a byte of flags (port, time, idle, segment), a byte of length, the
// frame. Frames are put behind the MAC address of their port, so that most are admitted.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "roost/base/assert.h"
#include "tests/lb/test_balancer.h"

namespace {

using namespace roost;

// One balancer for a whole run: what earlier inputs left behind is part of the test. The counts are
// checked now and then, because that takes time.
lb::TestBalancer& balancer() {
  static lb::TestBalancer balancer;
  return balancer;
}

void check_counts() {
  static uint64_t inputs = 0;
  if (++inputs % 512 != 0) return;
  ROOST_ASSERT(broken_sums(balancer().report()).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<lb::Arrival> arrivals;
  while (size >= 2 && arrivals.size() < net::kBatchLanesMax) {
    const uint8_t flags = data[0];
    const size_t frame_bytes = std::min<size_t>(data[1], size - 2);
    lb::Arrival arrival;
    arrival.in_port = flags & 1U;
    arrival.frame = {2, 0, 0, 0, 0, static_cast<uint8_t>(arrival.in_port + 1)};
    if ((flags & 2) != 0) arrival.frame.clear();
    arrival.frame.insert(arrival.frame.end(), data + 2, data + 2 + frame_bytes);
    if ((flags & 4) != 0) arrival.contiguous_bytes = arrival.frame.size() / 2;
    if ((flags & 8) != 0) arrival.headroom = 0;
    if ((flags & 16) != 0) balancer().now.count += uint64_t{1} << (flags >> 3);
    if ((flags & 32) != 0) balancer().datapath().idle(balancer().now, 16);
    arrivals.push_back(std::move(arrival));
    data += 2 + frame_bytes;
    size -= 2 + frame_bytes;
  }
  if (arrivals.empty()) return 0;
  for (const lb::Fate& fate : balancer().send_batch(arrivals)) {
    ROOST_ASSERT(fate.cause != lb::DropCause::kUndecided);
    ROOST_ASSERT(fate.cause || fate.out_port < 2);
  }
  check_counts();
  return 0;
}

// What a packet costs on this machine, under a load like the one that is asked about: the
// balancer's own datapath with the tables that are advised, one worker, packets from roost/traffic.
//
// Connections are those of one worker: as many alive at once, as many that begin in a second, as
// many packets of each, in TCP, ended by an RST; with the skew of a capture, if there is one. A
// measurement begins when the table holds what it will hold. Frames come from memory: receiving
// and sending by a port is not in it.
#pragma once

#include <cstdint>

#include "apps/advise/advice.h"
#include "roost/base/result.h"

namespace roost::advise {

struct Measurement {
  double datapath_ns = 0;  // of a packet, parsing included: the median of the rounds
  double least_ns = 0;
  double greatest_ns = 0;
  double packets_each = 0;  // of a connection, as drawn
  uint64_t live = 0;        // connections at the end, those included that are over
  uint64_t begun_per_second = 0;
  uint64_t warm_up_packets = 0;
  uint64_t lost = 0;  // packets that were not forwarded
};

struct MeasureOptions {
  uint64_t round_packets = 1 << 19;
  unsigned rounds = 9;
  uint64_t warm_up_packets_max = 300'000'000;
  double largest_share = 0;  // of the packets, of the largest hundredth; 0: all have as many
};

// Takes from seconds to minutes, and the memory of one worker. Errors: no connection begins; so
// many packets pass until the table holds what it will that it would take too long; what tables and
// streams refuse; no memory.
[[nodiscard]] Result<Measurement> measure(const Advice& advice, const MeasureOptions& options);

// The exponent of Pareto's law by which the largest hundredth of all has this share.
[[nodiscard]] double tail_of(double largest_share);

}  // namespace roost::advise

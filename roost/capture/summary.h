// What a capture file holds, found out before it is replayed.
//
// DPDK's net_pcap port says neither when its file ends nor that it is cut nor what link type it
// has, so the file is read once here, by the same libpcap, and a replay ends after the packets
// counted now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "roost/base/result.h"

namespace roost::capture {

struct Summary {
  std::string path;
  uint64_t packet_count = 0;                // whole packets, up to the cut if there is one
  uint64_t packet_bytes = 0;                // captured bytes of all of them
  uint32_t largest_packet_bytes = 0;        // captured bytes
  uint64_t snapped_count = 0;               // packets of which the capture kept only the beginning
  uint64_t first_timestamp_us = 0;          // of the first packet in the file; 0 without packets
  uint64_t last_timestamp_us = 0;           // of the last
  uint64_t backward_count = 0;              // packets stamped earlier than the packet before them
  std::optional<std::string> cut_reason{};  // why reading stopped before the file's end
};

// Reads the whole file. Refused: what is not a regular file, what libpcap cannot open, and any link
// type but Ethernet, which net_pcap would pass off as Ethernet.
[[nodiscard]] Result<Summary> summarize(const std::string& path);

}  // namespace roost::capture

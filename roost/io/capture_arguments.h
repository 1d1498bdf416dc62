// Which of the EAL arguments make ports that replay captures.
//
// A replay needs to know its files before EAL starts, and EAL does not report them afterwards, so
// the arguments are read here the way EAL and the net_pcap driver read them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"

namespace roost::io {

// One virtual device that the arguments ask for: --vdev=net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap
struct DeviceArgument {
  std::string name;                     // "net_pcap0": DPDK's name of the port
  std::vector<std::string> rx_paths{};  // captures to replay, one a receive queue
  std::vector<std::string> tx_paths{};  // captures to write, one a transmit queue
  std::string interface {};             // of the kernel, under a net_af_packet device
  bool is_infinite = false;  // its captures are replayed again and again, without timestamps

  // The port replays its file once, in the time of the packets.
  [[nodiscard]] bool is_replay() const { return !rx_paths.empty() && !is_infinite; }
};

// The virtual devices of the arguments, in their order, which is the order of their port numbers.
// The paths are only read for net_pcap devices, the interface for net_af_packet ones. Refused: two
// captures on one side of a device that replays, because a replay is one worker's, and an output
// that would overwrite one of the inputs.
[[nodiscard]] Result<std::vector<DeviceArgument>> read_device_arguments(
    std::span<const std::string> eal_arguments);

}  // namespace roost::io

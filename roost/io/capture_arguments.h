// Which of the EAL arguments make ports that replay captures.
//
// A replay needs to know its files before EAL starts, and EAL does not tell afterwards, so the
// arguments are read here the way EAL and the net_pcap driver read them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"

namespace roost::io {

// One virtual device that the arguments ask for: --vdev=net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap
struct DeviceArgument {
  std::string name;                      // "net_pcap0": DPDK's name of the port
  std::optional<std::string> rx_path{};  // capture to replay
  std::optional<std::string> tx_path{};  // capture to write
  bool is_infinite = false;  // the capture is replayed again and again, without timestamps

  // The port replays its file once, in the time of the packets.
  [[nodiscard]] bool is_replay() const { return rx_path.has_value() && !is_infinite; }
};

// The virtual devices of the arguments, in their order, which is the order of their port numbers.
// The paths are only read for net_pcap devices. Refused: two captures on one side of a device,
// because a port has one queue, and an output that would overwrite one of the inputs.
[[nodiscard]] Result<std::vector<DeviceArgument>> read_device_arguments(
    std::span<const std::string> eal_arguments);

}  // namespace roost::io

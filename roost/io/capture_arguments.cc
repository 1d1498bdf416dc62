#include "roost/io/capture_arguments.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

namespace roost::io {

namespace {

constexpr std::string_view kDeviceOption = "--vdev";

bool is_packet_socket_driver(std::string_view device) {
  return device.starts_with("net_af_packet") || device.starts_with("eth_af_packet");
}

bool is_capture_driver(std::string_view device) {
  return device.starts_with("net_pcap") || device.starts_with("eth_pcap");
}

// net_pcap takes any number above zero as true.
bool reads_as_true(std::string_view value) {
  int number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number > 0;
}

void read_key(std::string_view key, std::string_view value, DeviceArgument& device) {
  if (is_packet_socket_driver(device.name)) {
    if (key == "iface") device.interface = value;
    return;
  }
  if (key == "rx_pcap") device.rx_paths.emplace_back(value);
  if (key == "tx_pcap") device.tx_paths.emplace_back(value);
  if (key == "infinite_rx") device.is_infinite = reads_as_true(value);
}

// "name,key=value,key=value"
DeviceArgument read_device(std::string_view text) {
  size_t comma = text.find(',');
  DeviceArgument device{.name = std::string(text.substr(0, comma))};
  const bool reads_keys = is_capture_driver(device.name) || is_packet_socket_driver(device.name);
  while (reads_keys && comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    read_key(pair.substr(0, equals), pair.substr(equals + 1), device);
  }
  return device;
}

std::optional<Error> check_replay(const DeviceArgument& device) {
  if (!device.is_replay()) return {};
  const bool reads_two = device.rx_paths.size() > 1;
  if (!reads_two && device.tx_paths.size() <= 1) return {};
  return Error{device.name + ": " + (reads_two ? "rx_pcap" : "tx_pcap") +
               " is given twice; one worker replays, by one queue a port, so make it two devices"};
}

// Writing to `path` would empty one of the captures that `reader` replays.
bool would_overwrite(const std::string& path, const DeviceArgument& reader) {
  std::error_code missing;
  return std::filesystem::is_regular_file(path, missing) &&
         std::ranges::any_of(reader.rx_paths, [&](const std::string& capture) {
           return std::filesystem::equivalent(path, capture, missing);
         });
}

std::optional<Error> check_outputs(const std::vector<DeviceArgument>& devices) {
  for (const DeviceArgument& writer : devices) {
    for (const DeviceArgument& reader : devices) {
      for (const std::string& path : writer.tx_paths) {
        if (!would_overwrite(path, reader)) continue;
        return Error{writer.name + ": tx_pcap=" + path + " would overwrite the capture that " +
                     reader.name + " replays; give another file"};
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<DeviceArgument>> read_device_arguments(
    std::span<const std::string> eal_arguments) {
  std::vector<DeviceArgument> devices;
  for (size_t i = 0; i < eal_arguments.size(); ++i) {
    std::string_view argument = eal_arguments[i];
    if (!argument.starts_with(kDeviceOption)) continue;
    argument.remove_prefix(kDeviceOption.size());
    if (argument.starts_with('=')) {
      argument.remove_prefix(1);
    } else if (argument.empty() && i + 1 < eal_arguments.size()) {
      argument = eal_arguments[++i];
    } else {
      continue;
    }
    devices.push_back(read_device(argument));
    if (auto error = check_replay(devices.back())) return *error;
  }
  if (auto error = check_outputs(devices)) return *error;
  return devices;
}

}  // namespace roost::io

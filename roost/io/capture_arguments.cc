#include "roost/io/capture_arguments.h"

#include <charconv>
#include <filesystem>
#include <string_view>

namespace roost::io {

namespace {

constexpr std::string_view kDeviceOption = "--vdev";

bool is_capture_driver(std::string_view device) {
  return device.starts_with("net_pcap") || device.starts_with("eth_pcap");
}

// net_pcap takes any number above zero as true.
bool reads_as_true(std::string_view value) {
  int number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number > 0;
}

std::optional<Error> set_path(std::optional<std::string>& path, std::string_view value,
                              const DeviceArgument& device, std::string_view key) {
  if (path) {
    return Error{device.name + ": " + std::string(key) +
                 " is given twice; a port has one queue, so make it two devices"};
  }
  path = value;
  return {};
}

std::optional<Error> read_key(std::string_view key, std::string_view value,
                              DeviceArgument& device) {
  if (key == "rx_pcap") return set_path(device.rx_path, value, device, key);
  if (key == "tx_pcap") return set_path(device.tx_path, value, device, key);
  if (key == "infinite_rx") device.is_infinite = reads_as_true(value);
  return {};
}

// "name,key=value,key=value"
Result<DeviceArgument> read_device(std::string_view text) {
  size_t comma = text.find(',');
  DeviceArgument device{.name = std::string(text.substr(0, comma))};
  const bool reads_keys = is_capture_driver(device.name);
  while (reads_keys && comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    if (auto error = read_key(pair.substr(0, equals), pair.substr(equals + 1), device))
      return *error;
  }
  return device;
}

std::optional<Error> check_outputs(const std::vector<DeviceArgument>& devices) {
  for (const DeviceArgument& writer : devices) {
    for (const DeviceArgument& reader : devices) {
      std::error_code missing;
      if (!writer.tx_path || !reader.rx_path) continue;
      if (!std::filesystem::is_regular_file(*writer.tx_path, missing)) continue;
      if (std::filesystem::equivalent(*writer.tx_path, *reader.rx_path, missing)) {
        return Error{writer.name + ": tx_pcap=" + *writer.tx_path +
                     " would overwrite the capture that " + reader.name +
                     " replays; give another file"};
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
    Result<DeviceArgument> device = read_device(argument);
    if (!device) return device.error();
    devices.push_back(std::move(device).value());
  }
  if (auto error = check_outputs(devices)) return *error;
  return devices;
}

}  // namespace roost::io

#include "roost/io/eal.h"

#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "roost/io/capture_arguments.h"

namespace roost::io {

namespace {

constexpr std::string_view kProgramName = "roost";
constexpr size_t kLogLinesInErrors = 6;

// "--name", "--name=value" or "--name value".
bool has_option(std::span<const std::string> arguments, std::string_view name) {
  return std::ranges::any_of(arguments, [&](std::string_view argument) {
    return argument.starts_with(name) &&
           (argument.size() == name.size() || argument[name.size()] == '=');
  });
}

// Arguments that name a prefix or a process type share DPDK's files with other processes on
// purpose.
bool has_private_prefix(std::span<const std::string> arguments) {
  return !has_option(arguments, "--file-prefix") && !has_option(arguments, "--proc-type");
}

std::vector<std::string> complete_arguments(std::span<const std::string> arguments) {
  std::vector<std::string> complete{std::string(kProgramName)};
  complete.insert(complete.end(), arguments.begin(), arguments.end());
  if (!has_private_prefix(arguments)) return complete;
  complete.push_back("--file-prefix=" + std::string(kProgramName) + "-" + std::to_string(getpid()));
  if (!has_option(arguments, "--no-huge") && !has_option(arguments, "--huge-unlink")) {
    complete.emplace_back("--huge-unlink");
  }
  return complete;
}

// EAL leaves its run directory behind. Only the files it is known to make are removed; the
// directory stays if there is anything else in it.
void remove_run_directory(const std::filesystem::path& directory) {
  constexpr std::array<std::string_view, 5> kOwnFiles = {"config", "fbarray_", "hugepage_",
                                                         "mp_socket", "dpdk_telemetry"};
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    files.push_back(entry.path());
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    const bool is_own =
        std::ranges::any_of(kOwnFiles, [&](std::string_view own) { return name.starts_with(own); });
    if (is_own) std::filesystem::remove(file, error);
  }
  std::filesystem::remove(directory, error);
}

}  // namespace

std::string dpdk_version() { return rte_version(); }

Result<Eal> Eal::start(std::span<const std::string> arguments) {
  Eal eal;
  if (!has_option(arguments, "--log-level")) {
    eal.log_ = std::make_unique<EalLog>();
    rte_openlog_stream(eal.log_->stream());
  }
  eal.arguments_ = complete_arguments(arguments);
  std::vector<char*> pointers;
  pointers.reserve(eal.arguments_.size());
  for (std::string& argument : eal.arguments_) pointers.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) < 0) {
    // Under a shared prefix the files may be those of a process that runs.
    if (has_private_prefix(arguments)) remove_run_directory(rte_eal_get_runtime_dir());
    return eal.failed(
        "DPDK does not start with these arguments (without huge pages and network cards it wants "
        "--no-huge --no-pci)");
  }
  eal.is_started_ = true;
  if (auto error = eal.check_ports(arguments)) return *error;
  return eal;
}

std::optional<Error> Eal::check_ports(std::span<const std::string> arguments) const {
  const Result<std::vector<DeviceArgument>> devices = read_device_arguments(arguments);
  if (!devices) return devices.error();
  for (const DeviceArgument& device : devices.value()) {
    const bool is_network_device =
        device.name.starts_with("net_") || device.name.starts_with("eth_");
    if (is_network_device && !find_port(device.name)) {
      return failed("--vdev=" + device.name + " did not become a port; correct its arguments");
    }
  }
  if (port_count() == 0) {
    return failed(
        "there is no port; give one, such as --vdev=net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap or "
        "--vdev=net_af_packet0,iface=eth0, or bind a network card with dpdk-devbind.py");
  }
  for (uint16_t id = 0; id < port_count(); ++id) {
    if (rte_eth_dev_is_valid_port(id) == 0)
      return failed("the ports are not numbered from 0 without a gap");
  }
  return {};
}

Eal::Eal(Eal&& from) noexcept
    : arguments_(std::move(from.arguments_)),
      log_(std::move(from.log_)),
      is_started_(std::exchange(from.is_started_, false)) {}

Eal::~Eal() {
  if (is_started_) {
    const std::filesystem::path run_directory = rte_eal_get_runtime_dir();
    const bool is_primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
    rte_eal_cleanup();
    if (is_primary) remove_run_directory(run_directory);
  }
  if (log_ != nullptr) rte_openlog_stream(nullptr);
}

Error Eal::failed(const std::string& what) const {
  const std::string log = recent_log();
  return Error{log.empty() ? what : what + ". DPDK says: " + log};
}

uint16_t Eal::port_count() const { return rte_eth_dev_count_avail(); }

std::optional<uint16_t> Eal::find_port(const std::string& device_name) const {
  uint16_t id = 0;
  if (rte_eth_dev_get_port_by_name(device_name.c_str(), &id) != 0) return {};
  return id;
}

std::string Eal::recent_log() const {
  return log_ == nullptr ? std::string() : log_->last_lines(kLogLinesInErrors);
}

}  // namespace roost::io

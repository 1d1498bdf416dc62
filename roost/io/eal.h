// DPDK's environment (EAL), started once a process from the user's arguments and ended with this
// object.
//
// What it adds to the arguments: without --file-prefix each process gets its own, so that two runs
// do not meet; and huge pages under that private prefix are released with the process. What DPDK
// logs is kept for error messages instead of printed, unless the arguments set a log level; only
// wrong options make EAL itself print its usage. Needs no privileges with --no-huge --no-pci.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/io/eal_log.h"

namespace roost::io {

// "DPDK 22.11.7". Before EAL has started, too.
[[nodiscard]] std::string dpdk_version();

class Eal {
 public:
  // `arguments` are the user's, without the program's name. Refused: arguments that EAL refuses, a
  // --vdev that did not become a port, and no port at all. DPDK cannot be started a second time in
  // a process, whatever the outcome.
  static Result<Eal> start(std::span<const std::string> arguments);

  Eal(Eal&& from) noexcept;
  Eal& operator=(Eal&&) = delete;
  ~Eal();  // ends DPDK and removes its run directory; ports and pools must be gone

  // Ports have the numbers from 0 to port_count() - 1.
  [[nodiscard]] uint16_t port_count() const;
  // The port with DPDK's name of a device, such as "net_pcap0".
  [[nodiscard]] std::optional<uint16_t> find_port(const std::string& device_name) const;

  // The last lines of DPDK's log, for error messages; empty if it logs to the terminal.
  [[nodiscard]] std::string recent_log() const;

 private:
  Eal() = default;
  Error failed(const std::string& what) const;
  std::optional<Error> check_ports(std::span<const std::string> arguments) const;

  std::vector<std::string> arguments_;  // EAL may keep pointers into them
  std::unique_ptr<EalLog> log_;         // null when the user wants the log on the terminal
  bool is_started_ = false;             // false once moved from
};

}  // namespace roost::io

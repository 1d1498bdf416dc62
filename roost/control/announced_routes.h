// Host routes of the kernel's that a routing daemon learns and announces, and that are gone when
// this process is, however it ends (docs/decisions/0036-two-nodes.md).
//
// They lead to a TUN device that this object holds open, and stand in a routing table of their own,
// which no rule names: nobody's packets follow them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/file_descriptor.h"
#include "roost/base/result.h"
#include "roost/net/address.h"

struct mnl_socket;

namespace roost::control {

class AnnouncedRoutes {
 public:
  struct Config {
    std::string device{};  // its name; nobody else's
    uint32_t table = 0;    // number of the kernel's routing table; nobody else's
  };

  // The device, up and without routes. An error says what this process lacks.
  static Result<AnnouncedRoutes> create(const Config& config);

  // Those of another process of this host, which set these by that device and changes nothing any
  // more. The device is as it was.
  static Result<AnnouncedRoutes> adopt(const Config& config, FileDescriptor device,
                                       std::span<const net::IpAddress> addresses);

  // The routes are these from now on, added or taken out one by one. After an error some are not;
  // the same call again is safe. One thread at a time; a system call for each that changes.
  [[nodiscard]] std::optional<Error> set(std::span<const net::IpAddress> addresses);

  // What adopt() needs. The routes stand while any process has the device.
  [[nodiscard]] FileDescriptor share_device() const;
  [[nodiscard]] std::vector<net::IpAddress> routed() const {
    return {routed_.begin(), routed_.end()};
  }

 private:
  struct CloseSocket {
    void operator()(mnl_socket* socket) const;
  };
  using Netlink = std::unique_ptr<mnl_socket, CloseSocket>;

  AnnouncedRoutes(Config config, FileDescriptor device, Netlink netlink, uint32_t device_index)
      : config_(std::move(config)),
        device_(std::move(device)),
        netlink_(std::move(netlink)),
        device_index_(device_index) {}
  static Result<AnnouncedRoutes> open(const Config& config, FileDescriptor device);
  // A negative number is the kernel's error.
  [[nodiscard]] int change(const net::IpAddress& address, bool is_added);

  Config config_;
  FileDescriptor device_;
  Netlink netlink_;
  uint32_t device_index_;
  uint32_t sequence_ = 0;
  std::set<net::IpAddress> routed_{};
};

}  // namespace roost::control

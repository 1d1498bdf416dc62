#include "roost/control/announced_routes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace roost::control {

namespace {

constexpr uint8_t kRouteProtocol = 198;  // as `ip route` shows it; none of those that have a name
constexpr size_t kMessageBytes = 512;    // a route's is below 100

Error system_error(const std::string& what) {
  return Error{fmt::format("{}: {}", what, std::generic_category().message(errno))};
}

ifreq request_for_device(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return request;
}

std::optional<Error> make_device(const FileDescriptor& tun, const std::string& name) {
  ifreq request = request_for_device(name);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tun.number(), TUNSETIFF, &request) != 0) {
    return system_error("the TUN device " + name +
                        " cannot be made; it takes CAP_NET_ADMIN and a name that is free");
  }
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  request = request_for_device(name);
  request.ifr_flags = IFF_UP;
  if (socket.number() < 0 || ioctl(socket.number(), SIOCSIFFLAGS, &request) != 0) {
    return system_error("the TUN device " + name + " cannot be set up");
  }
  return {};
}

}  // namespace

void AnnouncedRoutes::CloseSocket::operator()(mnl_socket* socket) const {
  mnl_socket_close(socket);
}

Result<AnnouncedRoutes> AnnouncedRoutes::create(const Config& config) {
  FileDescriptor tun(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (tun.number() < 0) return system_error("/dev/net/tun cannot be opened");
  if (auto error = make_device(tun, config.device)) return *error;
  return open(config, std::move(tun));
}

Result<AnnouncedRoutes> AnnouncedRoutes::adopt(const Config& config, FileDescriptor device,
                                               std::span<const net::IpAddress> addresses) {
  auto routes = open(config, std::move(device));
  if (routes) routes.value().routed_.insert(addresses.begin(), addresses.end());
  return routes;
}

FileDescriptor AnnouncedRoutes::share_device() const {
  return FileDescriptor(fcntl(device_.number(), F_DUPFD_CLOEXEC, 0));
}

Result<AnnouncedRoutes> AnnouncedRoutes::open(const Config& config, FileDescriptor device) {
  const uint32_t index = if_nametoindex(config.device.c_str());
  if (index == 0) return system_error("the TUN device " + config.device + " is not there");
  Netlink netlink(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC));
  if (netlink == nullptr || mnl_socket_bind(netlink.get(), 0, MNL_SOCKET_AUTOPID) != 0) {
    return system_error("no netlink socket for routes");
  }
  return AnnouncedRoutes(config, std::move(device), std::move(netlink), index);
}

std::optional<Error> AnnouncedRoutes::set(std::span<const net::IpAddress> addresses) {
  const std::set<net::IpAddress> wanted(addresses.begin(), addresses.end());
  std::optional<Error> first;
  const auto apply = [&](const net::IpAddress& address, bool is_added) {
    // What is there, or gone already, is as it should be.
    const int error = change(address, is_added);
    if (error == 0 || error == (is_added ? EEXIST : ESRCH)) {
      if (is_added) {
        routed_.insert(address);
      } else {
        routed_.erase(address);
      }
      return;
    }
    if (!first) {
      first = Error{fmt::format(
          "the route to {} by {} in table {} cannot be {}: {}", address.format(), config_.device,
          config_.table, is_added ? "added" : "taken out", std::generic_category().message(error))};
    }
  };
  const std::vector<net::IpAddress> before(routed_.begin(), routed_.end());
  for (const net::IpAddress& address : before) {
    if (!wanted.contains(address)) apply(address, false);
  }
  for (const net::IpAddress& address : wanted) {
    if (!routed_.contains(address)) apply(address, true);
  }
  return first;
}

int AnnouncedRoutes::change(const net::IpAddress& address, bool is_added) {
  alignas(nlmsghdr) std::array<char, kMessageBytes> buffer{};
  nlmsghdr* const message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = is_added ? RTM_NEWROUTE : RTM_DELROUTE;
  message->nlmsg_flags =
      static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | (is_added ? NLM_F_CREATE | NLM_F_EXCL : 0));
  message->nlmsg_seq = ++sequence_;
  auto* const route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(rtmsg)));
  route->rtm_family = address.is_ipv6() ? AF_INET6 : AF_INET;
  route->rtm_dst_len = address.bit_count();
  route->rtm_table = RT_TABLE_UNSPEC;  // its number may need more than these 8 bits
  route->rtm_protocol = kRouteProtocol;
  route->rtm_scope = RT_SCOPE_LINK;
  route->rtm_type = RTN_UNICAST;
  if (address.is_ipv6()) {
    const net::Ipv6Address ipv6 = address.ipv6();
    mnl_attr_put(message, RTA_DST, ipv6.bytes.size(), ipv6.bytes.data());
  } else {
    const net::Ipv4Address ipv4 = address.ipv4();
    mnl_attr_put(message, RTA_DST, ipv4.bytes.size(), ipv4.bytes.data());
  }
  mnl_attr_put_u32(message, RTA_OIF, device_index_);
  mnl_attr_put_u32(message, RTA_TABLE, config_.table);
  if (mnl_socket_sendto(netlink_.get(), message, message->nlmsg_len) < 0) return errno;
  const ssize_t bytes = mnl_socket_recvfrom(netlink_.get(), buffer.data(), buffer.size());
  if (bytes < 0) return errno;
  const unsigned port = mnl_socket_get_portid(netlink_.get());
  const int outcome =
      mnl_cb_run(buffer.data(), static_cast<size_t>(bytes), sequence_, port, nullptr, nullptr);
  return outcome < 0 ? errno : 0;
}

}  // namespace roost::control

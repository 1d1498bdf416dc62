#include "roost/control/offload_watch.h"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "roost/base/file_descriptor.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::control {
namespace {

constexpr int kPacketsMax = 64;  // TCP and UDP, of an interface
constexpr int kPollMilliseconds = 100;
constexpr uint32_t kLinkBytesMax = 14 + 2 * 4;

ifreq request_for(const std::string& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return request;
}

// Whether ethtool's command was done; what it reads is in `what`.
bool ask_ethtool(const FileDescriptor& socket, const std::string& interface, void* what) {
  ifreq request = request_for(interface);
  request.ifr_data = static_cast<char*>(what);
  return ioctl(socket.number(), SIOCETHTOOL, &request) == 0;
}

uint32_t flag_of(const FileDescriptor& socket, const std::string& interface, uint32_t command) {
  ethtool_value value{.cmd = command, .data = 0};
  return ask_ethtool(socket, interface, &value) ? value.data : 0;
}

// The number of a veth's other end, in whatever namespace that is.
std::optional<unsigned> peer_number(const FileDescriptor& socket, const std::string& interface) {
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  if (!ask_ethtool(socket, interface, &driver) || std::string_view(driver.driver) != "veth") {
    return {};
  }
  // Its first statistic is peer_ifindex.
  std::vector<uint64_t> room(sizeof(ethtool_stats) / sizeof(uint64_t) + driver.n_stats);
  const std::array<uint32_t, 2> header = {ETHTOOL_GSTATS, driver.n_stats};
  static_assert(sizeof header == sizeof(ethtool_stats));
  std::memcpy(room.data(), &header, sizeof header);
  if (driver.n_stats == 0 || !ask_ethtool(socket, interface, room.data())) return {};
  return static_cast<unsigned>(room[1]);
}

// The other end's name, if it is in this namespace: each is then the other's other end.
std::optional<std::string> peer_name(const FileDescriptor& socket, const std::string& interface) {
  const std::optional<unsigned> number = peer_number(socket, interface);
  std::array<char, IF_NAMESIZE> name{};
  if (!number || if_indextoname(*number, name.data()) == nullptr) return {};
  const std::optional<unsigned> back = peer_number(socket, name.data());
  return back && *back == if_nametoindex(interface.c_str()) ? std::optional(name.data())
                                                            : std::nullopt;
}

std::string checksum_finding(const std::string& interface, const std::optional<std::string>& peer) {
  return fmt::format(
      "{}: packets come with checksums that their sender left to a network card, and no card "
      "finishes them; on the other end: ethtool -K {} tx off",
      interface, peer.value_or("<its name>"));
}

void look_at_settings(const std::string& interface, const OffloadWatch::Say& say) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool has_gro = flag_of(socket, interface, ETHTOOL_GGRO) != 0;
  const bool has_lro = (flag_of(socket, interface, ETHTOOL_GFLAGS) & ETH_FLAG_LRO) != 0;
  if (has_gro || has_lro) {
    say(
        fmt::format("{0}: received packets are joined to frames longer than the MTU, which are "
                    "lost; ethtool -K {0}{1}{2}",
                    interface, has_gro ? " gro off" : "", has_lro ? " lro off" : ""));
  }
}

// What one received frame shows.
struct Seen {
  bool is_checked = false;  // TCP or UDP, untagged: the kernel has taken the tags off
  bool is_unfinished = false;
  bool is_long = false;
};

Seen judge(std::span<const uint8_t> start, const tpacket_auxdata& about, uint32_t mtu) {
  if (start.size() < net::ethernet::kHeaderBytes + net::ipv4::kHeaderBytesMin) return {};
  const uint16_t ether_type = net::load_be16(&start[net::ethernet::kAddressesBytes]);
  const size_t at =
      net::ethernet::kHeaderBytes +
      (ether_type == net::ethernet::kIpv6 ? net::ipv6::kNextHeader : net::ipv4::kProtocol);
  const bool is_ip = ether_type == net::ethernet::kIpv4 || ether_type == net::ethernet::kIpv6;
  const net::IpProtocol protocol{start[at]};
  const bool is_checked =
      is_ip && (protocol == net::IpProtocol::kTcp || protocol == net::IpProtocol::kUdp);
  return {.is_checked = is_checked,
          .is_unfinished = is_checked && (about.tp_status & TP_STATUS_CSUMNOTREADY) != 0,
          .is_long = about.tp_len > mtu + kLinkBytesMax};
}

// The next frame, as far as it matters; nothing when none has come.
std::optional<Seen> receive(const FileDescriptor& socket, uint32_t mtu) {
  std::array<uint8_t, 64> start{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(tpacket_auxdata))> control{};
  iovec part{.iov_base = start.data(), .iov_len = start.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t bytes = recvmsg(socket.number(), &message, MSG_DONTWAIT);
  if (bytes < 0) return {};
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_PACKET || one->cmsg_type != PACKET_AUXDATA) continue;
    tpacket_auxdata about;
    std::memcpy(&about, CMSG_DATA(one), sizeof about);
    return judge(std::span(start).first(static_cast<size_t>(bytes)), about, mtu);
  }
  return Seen{};
}

// A packet socket that sees what comes in by the interface.
std::optional<FileDescriptor> open_socket(const std::string& interface) {
  FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  const int yes = 1;
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  const std::array<uint8_t, 2> all = {ETH_P_ALL >> 8, ETH_P_ALL & 0xff};
  std::memcpy(&address.sll_protocol, all.data(), all.size());
  const auto set = [&](int option) {
    return setsockopt(socket.number(), SOL_PACKET, option, &yes, sizeof yes) == 0;
  };
  const bool is_open =
      socket.number() >= 0 && address.sll_ifindex != 0 && set(PACKET_AUXDATA) &&
      set(PACKET_IGNORE_OUTGOING) &&
      bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return is_open ? std::optional(std::move(socket)) : std::nullopt;
}

uint32_t mtu_of(const FileDescriptor& socket, const std::string& interface) {
  ifreq request = request_for(interface);
  return ioctl(socket.number(), SIOCGIFMTU, &request) == 0 ? static_cast<uint32_t>(request.ifr_mtu)
                                                           : 0xffff;
}

// Until enough was seen, or one of each kind.
void look_at_packets(const std::stop_token& stop, const std::string& interface,
                     const OffloadWatch::Say& say) {
  const std::optional<FileDescriptor> socket = open_socket(interface);
  if (!socket) return;
  const uint32_t mtu = mtu_of(*socket, interface);
  bool has_unfinished = false;
  bool has_long = false;
  for (int checked = 0; checked < kPacketsMax && !stop.stop_requested();) {
    pollfd waiting{.fd = socket->number(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, kPollMilliseconds);
    while (const std::optional<Seen> seen = receive(*socket, mtu)) {
      checked += seen->is_checked ? 1 : 0;
      if (seen->is_unfinished && !std::exchange(has_unfinished, true)) {
        say(checksum_finding(interface, peer_name(*socket, interface)));
      }
      if (seen->is_long && !std::exchange(has_long, true)) {
        say(
            fmt::format("{}: frames longer than the MTU come in and are lost; on the other end: "
                        "ethtool -K {} tx off",
                        interface, peer_name(*socket, interface).value_or("<its name>")));
      }
      if (checked >= kPacketsMax || stop.stop_requested()) break;
    }
  }
}

}  // namespace

OffloadWatch::OffloadWatch(const std::vector<std::string>& interfaces, const Say& say) {
  for (const std::string& interface : interfaces) {
    look_at_settings(interface, say);
    threads_.emplace_back(
        [interface, say](const std::stop_token& stop) { look_at_packets(stop, interface, say); });
  }
}

}  // namespace roost::control

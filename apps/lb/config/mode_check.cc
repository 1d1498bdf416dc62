#include "apps/lb/config/mode_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/net/martian.h"
#include "roost/net/proxy_header.h"

namespace roost::lb {

namespace {

constexpr uint64_t kPortBindingsMax = (uint64_t{1} << 31) - 1;
// What hosts may count on (RFC 8200, RFC 791).
constexpr size_t kIpv6MtuMin = 1'280;
constexpr size_t kIpv4MtuMin = 68;

class ModeCheck {
 public:
  ModeCheck(const Config& config, std::vector<config::Fault>& faults)
      : config_(config), network_(config.network), faults_(faults) {}

  void run() {
    check_local_addresses();
    note_ends();
    for (const ServiceConfig& service : config_.services) {
      if (service.mode == Mode::kFullnat) check_fullnat(service);
      if (is_dsr(service.mode)) check_ports(service);
      if (service.is_one_packet) check_one_packet(service);
      if (service.sends_proxy_header) check_proxy_header(service);
      if (service.mode == Mode::kL2dsr && network_.is_whole) check_stations(service);
      if (encapsulation_of(service.mode) && network_.is_whole) check_tunnel(service);
    }
  }

 private:
  template <class... Arguments>
  void fault(uint32_t line, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    faults_.push_back({line, fmt::format(format, std::forward<Arguments>(arguments)...)});
  }

  void check_local_addresses() {
    const FullnatConfig& fullnat = config_.fullnat;
    std::set<net::IpAddress> given;
    for (const net::IpAddress& address : fullnat.addresses) {
      check_local_address("addresses", address, given);
    }
    for (const net::IpAddress& address : fullnat.nat64_addresses) {
      check_local_address("nat64_addresses", address, given);
      if (!address.is_ipv6()) continue;
      fault(fullnat.line,
            "[fullnat] nat64_addresses: {} is an IPv6 address, and IPv4 backends are addressed "
            "from these; give an IPv4 address, or move it to addresses",
            address.format());
    }
  }

  void check_local_address(std::string_view key, const net::IpAddress& address,
                           std::set<net::IpAddress>& given) {
    const uint32_t line = config_.fullnat.line;
    if (!given.insert(address).second) {
      fault(line, "[fullnat] {}: {} is given twice; remove one", key, address.format());
    }
    if (net::is_martian(address)) {
      fault(line, "[fullnat] {}: {} is no address of a station; give a unicast address", key,
            address.format());
    }
    for (const ServiceConfig& service : config_.services) {
      if (service.address == address) {
        fault(line,
              "[fullnat] {}: {} is the virtual address of [[service]] {}; give one that "
              "only the balancer uses",
              key, address.format(), service.name);
      }
      for (const BackendConfig& backend : service.backends) {
        if (backend.address != address) continue;
        fault(line,
              "[fullnat] {}: {} is the address of the backend {}; give one that only the "
              "balancer uses",
              key, address.format(), backend.name);
      }
    }
  }

  void check_fullnat(const ServiceConfig& service) {
    const bool is_ipv6 = service.address.is_ipv6();
    const auto is_of_service = [&](const net::IpAddress& address) {
      return address.is_ipv6() == is_ipv6;
    };
    const bool has_address = std::ranges::any_of(config_.fullnat.addresses, is_of_service);
    const bool needs_address =
        std::ranges::any_of(service.backends, is_of_service, &BackendConfig::address);
    if (!has_address && needs_address) {
      fault(service.line,
            "[[service]] {}: mode fullnat needs an address to speak from; give one of the "
            "service's family in [fullnat] addresses",
            service.name);
    }
    if (is_ipv6) check_nat64(service);
    if (config_.table.connections > kPortBindingsMax) {
      fault(service.line,
            "[[service]] {}: mode fullnat takes at most {} connections; make [table] connections "
            "fewer",
            service.name, kPortBindingsMax);
    }
  }

  // Of an IPv6 service, whose backends may be IPv4. Every port may be the way to one, or to its
  // clients.
  void check_nat64(const ServiceConfig& service) {
    const auto ipv4 = std::ranges::find_if(
        service.backends, [](const BackendConfig& backend) { return !backend.address.is_ipv6(); });
    if (ipv4 == service.backends.end()) return;
    if (config_.fullnat.nat64_addresses.empty()) {
      fault(ipv4->line,
            "[[service]] {} backend {}: an IPv4 backend of an IPv6 service needs an IPv4 address "
            "to be spoken to from, which serves nothing else; give one in [fullnat] "
            "nat64_addresses",
            service.name, ipv4->name);
    }
    if (!network_.is_whole) return;
    for (const l3::PortConfig& port : network_.ports) {
      if (port.mtu_or_default() >= kIpv6MtuMin) continue;
      fault(service.line,
            "[[service]] {}: packets of IPv6 clients have up to {} bytes on any way, which the "
            "mtu of the [[port]] of line {} does not allow; make it {} or more",
            service.name, kIpv6MtuMin, port.line, kIpv6MtuMin);
    }
  }

  void note_ends() {
    std::map<std::pair<net::IpAddress, net::IpProtocol>, std::vector<PortSpan>> spans;
    for (uint32_t i = 0; i < config_.services.size(); ++i) {
      const ServiceConfig& service = config_.services[i];
      std::vector<PortSpan>& there = spans[{service.address, service.protocol}];
      there.push_back({service.ports, i});
    }
    for (auto& [place, services] : spans) {
      for (const PortSpan& span : most_specific(services)) note_ends_of(span);
    }
  }

  // What backends send of these ports, if it says whose it is by its source.
  void note_ends_of(const PortSpan& span) {
    const ServiceConfig& service = config_.services[span.service];
    if (service.mode != Mode::kNat) return;
    for (const BackendConfig& backend : service.backends) {
      const PortMove move{.from = service.ports.first, .to = backend.port};
      nat_ends_[{backend.address, service.protocol}].push_back(
          {span.ports.moved(move), &service, &backend});
    }
  }

  // Nothing is kept of a datagram, so its answer has to say by itself whose it is.
  void check_one_packet(const ServiceConfig& service) {
    if (service.protocol != net::IpProtocol::kUdp) {
      fault(service.line,
            "[[service]] {}: one_packet is for UDP, TCP needs its connection; leave it out",
            service.name);
    }
    if (service.algorithm == Algorithm::kLeastConnections) {
      fault(service.line,
            "[[service]] {}: one_packet makes no connections that {} could count; give another "
            "algorithm",
            service.name, kAlgorithmNames[static_cast<size_t>(service.algorithm)]);
    }
    if (service.mode == Mode::kFullnat) {
      fault(service.line,
            "[[service]] {}: mode fullnat brings answers back by their connection, and one_packet "
            "makes none; give another mode, or leave one_packet out",
            service.name);
    }
    if (service.mode != Mode::kNat) return;
    for (const BackendConfig& backend : service.backends) {
      const std::vector<End>& ends = nat_ends_[{backend.address, service.protocol}];
      std::set<const ServiceConfig*> told;
      PortLines own;
      for (const End& end : ends) {
        if (end.backend == &backend) own.note(end.ports, backend.line);
      }
      for (const End& end : ends) {
        const ServiceConfig* const other = end.service;
        if (other == &service || own.find(end.ports) == 0) continue;
        if (!told.insert(other).second) continue;
        fault(backend.line,
              "[[service]] {} backend {}: it serves [[service]] {} of line {} too, and an answer "
              "of one_packet must say by its source whose it is; give it another port there, or "
              "leave one_packet out",
              service.name, backend.name, other->name, other->line);
      }
    }
  }

  // Every port may be the way to a backend.
  void check_proxy_header(const ServiceConfig& service) {
    if (service.protocol != net::IpProtocol::kTcp) {
      fault(service.line,
            "[[service]] {}: proxy_protocol is for TCP, a datagram has no start of a stream; "
            "leave it out",
            service.name);
    }
    if (service.mode != Mode::kFullnat) {
      fault(service.line,
            "[[service]] {}: in mode {} backends see the client's address anyway; leave "
            "proxy_protocol out, or give mode fullnat",
            service.name, mode_name(service.mode));
    }
    if (!network_.is_whole) return;
    const bool is_ipv6 = service.address.is_ipv6();
    const size_t added = is_ipv6 ? net::kProxyHeaderBytes<net::Ipv6Address>
                                 : net::kProxyHeaderBytes<net::Ipv4Address>;
    const size_t mtu_min = mtu_min_with(added, is_ipv6);
    for (const l3::PortConfig& port : network_.ports) {
      if (port.mtu_or_default() >= mtu_min) continue;
      fault(service.line,
            "[[service]] {}: proxy_protocol adds {} bytes, which leaves too little of the mtu of "
            "the [[port]] of line {}; make it {} or more",
            service.name, added, port.line, mtu_min);
    }
  }

  // What hosts may count on, and what is added to it.
  [[nodiscard]] static size_t mtu_min_with(size_t added, bool is_ipv6) {
    return (is_ipv6 ? kIpv6MtuMin : kIpv4MtuMin) + added;
  }

  // The packet arrives as it was sent, port included.
  void check_ports(const ServiceConfig& service) {
    for (const BackendConfig& backend : service.backends) {
      if (backend.port == service.ports.first) continue;
      fault(backend.line,
            "[[service]] {} backend {}: mode {} leaves packets as they are, so its port cannot be "
            "{}; "
            "give the service's, {}",
            service.name, backend.name, mode_name(service.mode), backend.port, service.ports.first);
    }
  }

  // A backend that is reached by its MAC address must be on the link itself.
  void check_stations(const ServiceConfig& service) {
    for (const BackendConfig& backend : service.backends) {
      const bool is_named =
          std::ranges::any_of(network_.neighbours, [&](const l3::NeighbourConfig& neighbour) {
            return neighbour.address == backend.address;
          });
      if (!network_.is_connected(backend.address)) {
        fault(backend.line,
              "[[service]] {} backend {}: mode l2dsr reaches stations of connected networks only, "
              "and {} is on none; use ipip, gue or fullnat",
              service.name, backend.name, backend.address.format());
      } else if (network_.has_gateway() && !is_named) {
        fault(backend.line,
              "[[service]] {} backend {}: its packets would go to the default_neighbour_mac, which "
              "mode l2dsr cannot have; give a [[neighbour]] {}",
              service.name, backend.name, backend.address.format());
      }
    }
  }

  // Every port may be the way to a backend.
  void check_tunnel(const ServiceConfig& service) {
    const bool is_ipv6 = service.address.is_ipv6();
    const size_t added = net::encapsulation_bytes(*encapsulation_of(service.mode), is_ipv6);
    const size_t mtu_min = mtu_min_with(added, is_ipv6);
    for (const l3::PortConfig& port : network_.ports) {
      const bool has_address = std::ranges::any_of(
          port.addresses,
          [&](const net::IpPrefix& prefix) { return prefix.address.is_ipv6() == is_ipv6; });
      if (!has_address) {
        fault(service.line,
              "[[service]] {}: mode {} needs an address to send from; give the [[port]] of line {} "
              "an {} address",
              service.name, mode_name(service.mode), port.line, is_ipv6 ? "IPv6" : "IPv4");
      }
      if (port.mtu_or_default() < mtu_min) {
        fault(service.line,
              "[[service]] {}: mode {} adds {} bytes, which leaves too little of the mtu of the "
              "[[port]] of line {}; make it {} or more",
              service.name, mode_name(service.mode), added, port.line, mtu_min);
      }
    }
  }

  const Config& config_;
  const l3::NetworkConfig& network_;
  std::vector<config::Fault>& faults_;
  struct End {
    ServicePorts ports{};
    const ServiceConfig* service = nullptr;
    const BackendConfig* backend = nullptr;
  };
  // What of backends' ports comes from services, by address.
  std::map<std::pair<net::IpAddress, net::IpProtocol>, std::vector<End>> nat_ends_;
};

}  // namespace

void check_modes(const Config& config, std::vector<config::Fault>& faults) {
  ModeCheck(config, faults).run();
}

}  // namespace roost::lb

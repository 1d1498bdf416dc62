#include "apps/lb/config/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "roost/capture/contacts.h"
#include "roost/capture/reader.h"

namespace roost::lb {

namespace {

using capture::ContactCount;
using capture::Contacts;

constexpr size_t kServicesMax = 8;
constexpr uint32_t kSuggestedMtuMin = 1'500;
constexpr uint32_t kSuggestedMtuMax = 65'535;
constexpr int kBackendCount = 3;
// Each service has its own port on the backends: with a port in common, a client that contacts two
// services from one port would have one reply tuple for both.
constexpr size_t kBackendPortFirst = 8'001;

// Reads up to the end, or to where the file is cut: what is there is worth a suggestion.
Result<Contacts> read_contacts(const std::string& path) {
  Result<capture::Reader> reader = capture::Reader::open(path);
  if (!reader) return reader.error();
  Contacts contacts;
  while (const auto frame = reader.value().next()) contacts.add(frame->bytes);
  return contacts;
}

// The first network of a family's range that holds no service: RFC 2544 and RFC 5180 set these
// ranges aside for tests.
net::IpPrefix invented_network(bool is_ipv6, const std::vector<ContactCount>& contacts) {
  for (unsigned number = 0; number < 256; ++number) {
    const std::string text = is_ipv6 ? fmt::format("2001:2:0:{:x}::1/64", number)
                                     : fmt::format("198.18.{}.1/24", number);
    const net::IpPrefix prefix = net::IpPrefix::parse(text).value();
    if (std::ranges::none_of(contacts, [&](const ContactCount& contact) {
          return prefix.contains(contact.server.address);
        })) {
      return prefix;
    }
  }
  ROOST_ASSERT(false);  // there are fewer services than networks
  return {};
}

// The invented backend's address: the network's own with another last number.
std::string backend_address(const net::IpPrefix& network, int number) {
  std::string text = network.address.format();
  text.pop_back();  // the port's own "1"
  return text + std::to_string(10 + number);
}

std::string vlan_text(const std::vector<uint16_t>& vlan) {
  return fmt::format("[{}]", fmt::join(vlan, ", "));
}

void write_port(std::string& toml, const std::vector<net::IpPrefix>& networks,
                const std::vector<uint16_t>& vlan, uint32_t mtu) {
  std::vector<std::string> addresses;
  for (const net::IpPrefix& network : networks) addresses.push_back("\"" + network.format() + "\"");
  fmt::format_to(std::back_inserter(toml),
                 "[[port]]\n"
                 "addresses = [{}]  # invented\n"
                 "mac = \"02:00:00:00:00:01\"  # invented\n"
                 "promiscuous = true  # the capture's frames were for other MACs\n"
                 "mtu = {}\n",
                 fmt::join(addresses, ", "), mtu);
  if (!vlan.empty()) {
    toml += "vlan = " + vlan_text(vlan) + "  # the tags of most packets to these services\n";
  }
  toml += "default_neighbour_mac = \"02:00:00:00:00:fe\"  # invented: every client is behind it\n";
}

void write_neighbours(std::string& toml, const std::vector<net::IpPrefix>& networks) {
  for (const net::IpPrefix& network : networks) {
    for (int number = 1; number <= kBackendCount; ++number) {
      fmt::format_to(std::back_inserter(toml),
                     "\n[[neighbour]]  # an invented backend\naddress = \"{}\"\nmac = "
                     "\"02:00:00:00:02:{}\"\n",
                     backend_address(network, number), 10 + number);
    }
  }
}

void write_service(std::string& toml, const ContactCount& contact, const net::IpPrefix& network,
                   size_t backend_port) {
  const capture::Server& server = contact.server;
  const std::string_view protocol = server.protocol == net::IpProtocol::kTcp ? "tcp" : "udp";
  const std::string address = server.address.format();
  fmt::format_to(std::back_inserter(toml),
                 "\n[[service]]  # contacted by about {} packets\n"
                 "name = \"{}-{}-{}\"\n"
                 "address = \"{}\"\n"
                 "port = {}\n"
                 "protocol = \"{}\"\n"
                 "backends = [\n",
                 contact.contacts, protocol, address, server.port, address, server.port, protocol);
  for (int number = 1; number <= kBackendCount; ++number) {
    fmt::format_to(std::back_inserter(toml), "  {{name = \"b{}\", address = \"{}\", port = {}}},\n",
                   number, backend_address(network, number), backend_port);
  }
  toml += "]\n";
}

std::string write_toml(const std::vector<ContactCount>& contacts, uint32_t largest_ip_bytes) {
  std::array<std::optional<net::IpPrefix>, 2> network_of;  // by family
  std::vector<net::IpPrefix> networks;
  for (const bool is_ipv6 : {false, true}) {
    if (std::ranges::none_of(contacts, [&](const ContactCount& contact) {
          return contact.server.address.is_ipv6() == is_ipv6;
        })) {
      continue;
    }
    network_of[is_ipv6] = invented_network(is_ipv6, contacts);
    networks.push_back(*network_of[is_ipv6]);
  }
  std::string toml =
      "# Suggested by `roost lb --suggest`: the most contacted addresses and ports of a capture "
      "became\n"
      "# virtual services. The backends, the port's addresses and all MACs are invented; replace "
      "them\n"
      "# before you use this on a network.\n"
      "tick_seconds = 1.0\n"
      "maglev_seed = 1\n"
      "\n"
      "[table]\n"
      "connections = 262_144\n"
      "\n";
  write_port(toml, networks, contacts.front().server.vlan,
             std::clamp(largest_ip_bytes, kSuggestedMtuMin, kSuggestedMtuMax));
  write_neighbours(toml, networks);
  for (size_t i = 0; i < contacts.size(); ++i) {
    const net::IpPrefix& network = *network_of[contacts[i].server.address.is_ipv6()];
    write_service(toml, contacts[i], network, kBackendPortFirst + i);
  }
  return toml;
}

}  // namespace

Result<std::string> suggest_config(const std::string& capture_path) {
  const Result<Contacts> contacts = read_contacts(capture_path);
  if (!contacts) return contacts.error();
  const std::vector<ContactCount> most = contacts.value().most_contacted(kServicesMax);
  if (most.empty()) {
    return Error{capture_path +
                 ": no TCP or UDP packet in it could be balanced; give a capture of "
                 "clients that contact servers"};
  }
  return write_toml(most, contacts.value().largest_ip_bytes());
}

}  // namespace roost::lb

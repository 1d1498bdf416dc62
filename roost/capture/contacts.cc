#include "roost/capture/contacts.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "roost/net/flow_key.h"
#include "roost/net/martian.h"
#include "roost/net/rewrite.h"

namespace roost::capture {

namespace {

struct Ends {
  Server source;
  Server destination;
};

template <class Key>
bool read_ends(const net::Packet& packet, const net::ParsedPacket& parsed, Ends& ends) {
  const Key key = Key::from_packet(packet, parsed);
  if (has_martian_address(key) || key.source_port == 0 || key.destination_port == 0) return false;
  std::vector<uint16_t> vlan;
  for (size_t i = 0; i < parsed.vlan.count && !parsed.vlan.is_priority_only(); ++i) {
    vlan.push_back(parsed.vlan.tags[i].identifier());
  }
  ends.source = {key.source, key.source_port, key.protocol, vlan};
  ends.destination = {key.destination, key.destination_port, key.protocol, vlan};
  return true;
}

}  // namespace

size_t Contacts::ServerHash::operator()(const Server& server) const {
  const std::string address = server.address.format();
  const uint64_t rest = (uint64_t{server.port} << 8) | static_cast<uint8_t>(server.protocol);
  return std::hash<std::string_view>()(address) ^ std::hash<uint64_t>()(rest * 0x9e3779b97f4a7c15);
}

void Contacts::add(std::span<const uint8_t> frame) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  // A packet view is writable; the parser only reads.
  const net::Packet packet{
      .data = const_cast<uint8_t*>(frame.data()), .contiguous_bytes = bytes, .total_bytes = bytes};
  net::ParsedPacket parsed;
  if (net::parse(packet, parsed) != net::ParseVerdict::kOk) return;
  if (parsed.ttl <= 1 || net::read_macs(packet).destination.is_multicast()) return;
  Ends ends;
  const bool is_usable = parsed.is_ipv6 ? read_ends<net::FlowKey6>(packet, parsed, ends)
                                        : read_ends<net::FlowKey4>(packet, parsed, ends);
  if (!is_usable) return;
  largest_ip_bytes_ = std::max(largest_ip_bytes_, parsed.ip_bytes);

  const bool is_syn = (parsed.tcp_flags & net::tcp::kSyn) != 0;
  const bool is_ack = (parsed.tcp_flags & net::tcp::kAck) != 0;
  const bool is_rst = (parsed.tcp_flags & net::tcp::kRst) != 0;  // makes no connection
  const bool is_to_server =
      is_named_by_syn(ends.destination) ||
      (!is_named_by_syn(ends.source) && ends.destination.port <= ends.source.port);
  if (is_syn) {
    note_server(is_ack ? ends.source : ends.destination, true, is_ack ? 0 : 1);
  } else if (is_to_server && !is_rst) {
    note_server(ends.destination, false, 1);
  }
}

bool Contacts::is_named_by_syn(const Server& server) const {
  const auto place = servers_.find(server);
  return place != servers_.end() && place->second.is_named_by_syn;
}

void Contacts::note_server(const Server& server, bool is_named_by_syn, uint64_t contacts) {
  const auto place = servers_.find(server);
  if (place != servers_.end()) {
    place->second.contacts += contacts;
    place->second.is_named_by_syn |= is_named_by_syn;
    return;
  }
  if (servers_.size() == kServersMax) {
    for (auto at = servers_.begin(); at != servers_.end();) {
      if (at->second.contacts > 0) --at->second.contacts;
      at = at->second.contacts == 0 ? servers_.erase(at) : std::next(at);
    }
    return;
  }
  servers_.emplace(server, Entry{contacts, is_named_by_syn});
}

std::vector<ContactCount> Contacts::most_contacted(size_t count_max) const {
  std::map<std::vector<uint16_t>, uint64_t> contacts_by_vlan;
  for (const auto& [server, entry] : servers_) contacts_by_vlan[server.vlan] += entry.contacts;
  const auto busiest =
      std::ranges::max_element(contacts_by_vlan, {}, [](const auto& vlan) { return vlan.second; });

  std::vector<ContactCount> counts;
  for (const auto& [server, entry] : servers_) {
    if (entry.contacts > 0 && server.vlan == busiest->first) {
      counts.push_back({server, entry.contacts});
    }
  }
  std::ranges::sort(counts, [](const ContactCount& a, const ContactCount& b) {
    return std::pair(b.contacts, a.server) < std::pair(a.contacts, b.server);
  });
  if (counts.size() > count_max) counts.resize(count_max);
  return counts;
}

}  // namespace roost::capture

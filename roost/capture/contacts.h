// Which (address, port, protocol)s are contacted most in a stream of packets: the servers.
//
// The server of a packet is: of a SYN its destination, of a SYN-ACK its source; else the end that a
// SYN named a server before; else the end with the lower port, which is where services are. A
// packet towards a server is a contact.
//
// Memory is bounded whatever the packets are: when there are too many different servers, each loses
// a contact and those without one are forgotten (Misra and Gries, "Finding repeated elements",
// 1982). A server with more than contacts / kServersMax contacts is never forgotten.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::capture {

struct Server {
  net::IpAddress address{};
  uint16_t port = 0;
  net::IpProtocol protocol{};
  std::vector<uint16_t> vlan{};  // identifiers of the frames' tags

  auto operator<=>(const Server&) const = default;
};

struct ContactCount {
  Server server{};
  uint64_t contacts = 0;  // about: never too many
};

class Contacts {
 public:
  static constexpr size_t kServersMax = 65'536;

  // Any frame; those that no network function would forward are passed over.
  void add(std::span<const uint8_t> frame);

  // Up to `count_max` servers of the frames with the most frequent VLAN tags, most contacted first;
  // of equals, the lower address and port.
  [[nodiscard]] std::vector<ContactCount> most_contacted(size_t count_max) const;

  // The largest IP packet that add() did not pass over.
  [[nodiscard]] uint32_t largest_ip_bytes() const { return largest_ip_bytes_; }

 private:
  struct Entry {
    uint64_t contacts = 0;
    bool is_named_by_syn = false;
  };
  struct ServerHash {
    size_t operator()(const Server& server) const;
  };

  void note_server(const Server& server, bool is_named_by_syn, uint64_t contacts);
  [[nodiscard]] bool is_named_by_syn(const Server& server) const;

  std::unordered_map<Server, Entry, ServerHash> servers_;
  uint32_t largest_ip_bytes_ = 0;
};

}  // namespace roost::capture

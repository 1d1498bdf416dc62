// The forwarding table of a router: the next hop of the longest prefix that contains an address, by
// DPDK's rte_fib (DIR-24-8) and rte_fib6 (trie). A next hop is a number from 1 on that the caller
// gives a meaning.
//
// A family with routes takes 32 MiB of EAL's memory, and 512 bytes for each block of addresses that
// prefixes longer than 24 bits divide, for IPv6 up to twice that; all of it twice when there are
// more than 32,767 blocks. One without routes takes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "roost/base/result.h"
#include "roost/net/address.h"

struct rte_fib;
struct rte_fib6;

namespace roost::io {

class Fib {
 public:
  using Hop = uint16_t;
  static constexpr Hop kNoHop = 0;
  static constexpr Hop kHopMax = 32'767;  // 15 bits of an entry

  struct Route {
    net::IpPrefix prefix{};
    Hop hop = kNoHop;
  };

  // Of routes of both families; of two with the same prefix the first counts. EAL must run. One
  // thread at a time. Errors: memory. O(routes).
  static Result<Fib> create(std::span<const Route> routes);

  // The hop of each address, kNoHop where no prefix contains it; any number, as many hops as
  // addresses. Any thread. One or two cache lines an address for IPv4, up to 14 for IPv6.
  void find(std::span<const net::Ipv4Address> addresses, std::span<Hop> hops) const;
  void find(std::span<const net::Ipv6Address> addresses, std::span<Hop> hops) const;

  // The longest prefix itself, for people; O(length of an address).
  [[nodiscard]] std::optional<net::IpPrefix> prefix_of(const net::IpAddress& address) const;

 private:
  struct Free {
    void operator()(rte_fib* fib) const;
    void operator()(rte_fib6* fib) const;
  };

  Fib() = default;
  std::optional<Error> add_ipv4(std::span<const Route> routes);
  std::optional<Error> add_ipv6(std::span<const Route> routes);

  std::unique_ptr<rte_fib, Free> ipv4_;
  std::unique_ptr<rte_fib6, Free> ipv6_;
};

}  // namespace roost::io

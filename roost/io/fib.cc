#include "roost/io/fib.h"

#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_memory.h>
#include <rte_rib.h>
#include <rte_rib6.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"

namespace roost::io {

namespace {

constexpr size_t kLookupsMax = 64;  // at a time
constexpr uint8_t kFirstBits = 24;  // that the first table of both is indexed by
constexpr uint32_t kTbl8Min = 8;
constexpr uint32_t kTbl8Max = uint32_t{1} << 24;

// The number that DPDK takes for an address: in this machine's order.
uint32_t number_of(const net::Ipv4Address& address) { return net::load_be32(address.bytes.data()); }

Error failed(const std::string& what, int number) {
  return Error{"the table of routes: " + what + ": " + rte_strerror(number) +
               "; give DPDK more memory (-m), or fewer routes"};
}

// How many blocks of 256 entries the prefixes of a family need at most: one for each beginning, at
// a byte from the third on, of a prefix that goes on behind it.
template <class Address>
uint32_t block_count(std::span<const Fib::Route> routes) {
  std::set<std::pair<Address, uint8_t>> blocks;
  for (const Fib::Route& route : routes) {
    const auto address = route.prefix.address.as<Address>();
    if (!address) continue;
    Address begin{};
    for (uint8_t bits = kFirstBits; bits < route.prefix.prefix_bits; bits += 8) {
      std::memcpy(&begin, &*address, bits / 8);
      blocks.emplace(begin, bits);
    }
  }
  return static_cast<uint32_t>(blocks.size()) + kTbl8Min;
}

// DPDK wants a name that no other table of the process has, in either family.
std::string free_name() {
  std::string name;
  int number = 0;
  do {
    name = "roost_fib_" + std::to_string(number++);
  } while (rte_fib_find_existing(name.c_str()) != nullptr ||
           rte_fib6_find_existing(name.c_str()) != nullptr);
  return name;
}

}  // namespace

void Fib::Free::operator()(rte_fib* fib) const { rte_fib_free(fib); }
void Fib::Free::operator()(rte_fib6* fib) const { rte_fib6_free(fib); }

Result<Fib> Fib::create(std::span<const Route> routes) {
  Fib fib;
  for (const Route& route : routes) ROOST_ASSERT(route.hop != kNoHop && route.hop <= kHopMax);
  if (auto error = fib.add_ipv4(routes)) return *error;
  if (auto error = fib.add_ipv6(routes)) return *error;
  return fib;
}

std::optional<Error> Fib::add_ipv4(std::span<const Route> routes) {
  const auto count = std::ranges::count_if(
      routes, [](const Route& route) { return !route.prefix.address.is_ipv6(); });
  if (count == 0) return {};
  rte_fib_conf config = {};
  config.type = RTE_FIB_DIR24_8;
  config.default_nh = kNoHop;
  config.max_routes = static_cast<int>(count) + 1;
  config.dir24_8.num_tbl8 = block_count<net::Ipv4Address>(routes);
  config.dir24_8.nh_sz =
      config.dir24_8.num_tbl8 > kHopMax ? RTE_FIB_DIR24_8_4B : RTE_FIB_DIR24_8_2B;
  ipv4_.reset(rte_fib_create(free_name().c_str(), SOCKET_ID_ANY, &config));
  if (ipv4_ == nullptr) return failed("IPv4", rte_errno);
  // DPDK changes the hop of a prefix that is there.
  for (size_t i = routes.size(); i-- > 0;) {
    const auto address = routes[i].prefix.address.as<net::Ipv4Address>();
    if (!address) continue;
    const int error =
        rte_fib_add(ipv4_.get(), number_of(*address), routes[i].prefix.prefix_bits, routes[i].hop);
    if (error != 0) return failed(routes[i].prefix.format(), -error);
  }
  return {};
}

// DPDK sets blocks aside by what it knows of a prefix's neighbours, which is more than the prefixes
// need and depends on their order; so when they do not suffice, there are twice as many.
std::optional<Error> Fib::add_ipv6(std::span<const Route> routes) {
  const auto count = std::ranges::count_if(
      routes, [](const Route& route) { return route.prefix.address.is_ipv6(); });
  if (count == 0) return {};
  rte_fib6_conf config = {};
  config.type = RTE_FIB6_TRIE;
  config.default_nh = kNoHop;
  config.max_routes = static_cast<int>(count) + 1;
  uint32_t block_max = block_count<net::Ipv6Address>(routes);
  int error = -ENOSPC;
  for (; error == -ENOSPC && block_max <= kTbl8Max; block_max *= 2) {
    config.trie.num_tbl8 = block_max;
    config.trie.nh_sz = block_max > kHopMax ? RTE_FIB6_TRIE_4B : RTE_FIB6_TRIE_2B;
    ipv6_.reset();
    ipv6_.reset(rte_fib6_create(free_name().c_str(), SOCKET_ID_ANY, &config));
    if (ipv6_ == nullptr) return failed("IPv6", rte_errno);
    error = 0;
    for (size_t i = routes.size(); i-- > 0 && error == 0;) {
      const auto address = routes[i].prefix.address.as<net::Ipv6Address>();
      if (!address) continue;
      error = rte_fib6_add(ipv6_.get(), address->bytes.data(), routes[i].prefix.prefix_bits,
                           routes[i].hop);
    }
  }
  return error == 0 ? std::nullopt : std::optional(failed("IPv6", -error));
}

void Fib::find(std::span<const net::Ipv4Address> addresses, std::span<Hop> hops) const {
  ROOST_ASSERT(hops.size() >= addresses.size());
  if (ipv4_ == nullptr) return void(std::ranges::fill(hops.first(addresses.size()), kNoHop));
  std::array<uint32_t, kLookupsMax> numbers;
  std::array<uint64_t, kLookupsMax> found;
  for (size_t begin = 0; begin < addresses.size(); begin += kLookupsMax) {
    const auto part = addresses.subspan(begin, std::min(kLookupsMax, addresses.size() - begin));
    std::ranges::transform(part, numbers.begin(), number_of);
    rte_fib_lookup_bulk(ipv4_.get(), numbers.data(), found.data(), static_cast<int>(part.size()));
    for (size_t i = 0; i < part.size(); ++i) hops[begin + i] = static_cast<Hop>(found[i]);
  }
}

void Fib::find(std::span<const net::Ipv6Address> addresses, std::span<Hop> hops) const {
  ROOST_ASSERT(hops.size() >= addresses.size());
  if (ipv6_ == nullptr) return void(std::ranges::fill(hops.first(addresses.size()), kNoHop));
  uint8_t keys[kLookupsMax][RTE_FIB6_IPV6_ADDR_SIZE];
  std::array<uint64_t, kLookupsMax> found;
  for (size_t begin = 0; begin < addresses.size(); begin += kLookupsMax) {
    const auto part = addresses.subspan(begin, std::min(kLookupsMax, addresses.size() - begin));
    std::memcpy(keys, part.data(), part.size_bytes());
    rte_fib6_lookup_bulk(ipv6_.get(), keys, found.data(), static_cast<int>(part.size()));
    for (size_t i = 0; i < part.size(); ++i) hops[begin + i] = static_cast<Hop>(found[i]);
  }
}

std::optional<net::IpPrefix> Fib::prefix_of(const net::IpAddress& address) const {
  net::IpPrefix prefix{};
  if (const auto ipv4 = address.as<net::Ipv4Address>()) {
    if (ipv4_ == nullptr) return {};
    const rte_rib_node* node = rte_rib_lookup(rte_fib_get_rib(ipv4_.get()), number_of(*ipv4));
    uint32_t number = 0;
    if (node == nullptr || rte_rib_get_ip(node, &number) != 0 ||
        rte_rib_get_depth(node, &prefix.prefix_bits) != 0) {
      return {};
    }
    net::Ipv4Address begin{};
    for (size_t i = 0; i < begin.bytes.size(); ++i) {
      begin.bytes[i] = static_cast<uint8_t>(number >> (24 - 8 * i));
    }
    prefix.address = net::IpAddress(begin);
    return prefix;
  }
  if (ipv6_ == nullptr) return {};
  const net::Ipv6Address ipv6 = address.ipv6();
  const rte_rib6_node* node = rte_rib6_lookup(rte_fib6_get_rib(ipv6_.get()), ipv6.bytes.data());
  net::Ipv6Address begin{};
  if (node == nullptr || rte_rib6_get_ip(node, begin.bytes.data()) != 0 ||
      rte_rib6_get_depth(node, &prefix.prefix_bits) != 0) {
    return {};
  }
  prefix.address = net::IpAddress(begin);
  return prefix;
}

}  // namespace roost::io

// Longest-prefix match against a model that looks at every route, over as many routes as a router
// of a provider's edge has.
#include "roost/io/fib.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "roost/io/eal.h"
#include "tests/base/step_count.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

template <class Address>
Address masked(Address address, uint8_t bits) {
  for (size_t i = bits; i < 8 * address.bytes.size(); ++i) {
    address.bytes[i / 8] &= static_cast<uint8_t>(~(0x80 >> (i % 8)));
  }
  return address;
}

template <class Address>
class Model {
 public:
  void add(const Fib::Route& route) {
    const Address begin = masked(*route.prefix.address.as<Address>(), route.prefix.prefix_bits);
    hops_.emplace(std::pair(route.prefix.prefix_bits, begin), route.hop);  // the first counts
  }
  [[nodiscard]] Fib::Hop find(const Address& address) const {
    for (int bits = 8 * static_cast<int>(address.bytes.size()); bits >= 0; --bits) {
      const auto length = static_cast<uint8_t>(bits);
      const auto found = hops_.find(std::pair(length, masked(address, length)));
      if (found != hops_.end()) return found->second;
    }
    return Fib::kNoHop;
  }

 private:
  std::map<std::pair<uint8_t, Address>, Fib::Hop> hops_;
};

// Addresses that share beginnings, so that prefixes lie within each other.
template <class Address>
Address random_address(std::mt19937_64& random) {
  Address address{};
  for (uint8_t& byte : address.bytes) {
    byte = static_cast<uint8_t>(random() % 4 == 0 ? random() : random() % 3);
  }
  return address;
}

template <class Address>
void expect_as_the_model(size_t route_count, uint8_t bits_min) {
  std::mt19937_64 random(1);
  constexpr auto kBits = static_cast<uint8_t>(8 * sizeof(Address));
  std::vector<Fib::Route> routes;
  Model<Address> model;
  for (size_t i = 0; i < route_count; ++i) {
    const auto bits = static_cast<uint8_t>(bits_min + random() % (kBits - bits_min + 1U));
    const auto hop = static_cast<Fib::Hop>(1 + random() % Fib::kHopMax);
    routes.push_back({{net::IpAddress(random_address<Address>(random)), bits}, hop});
    model.add(routes.back());
  }
  const Result<Fib> fib = Fib::create(routes);
  ASSERT_TRUE(fib.ok()) << fib.error().message;
  std::vector<Address> addresses;
  for (size_t i = 0; i < step_count(100'000); ++i) {
    if (i % 2 == 0) {
      addresses.push_back(random_address<Address>(random));
    } else {  // within a route
      addresses.push_back(*routes[random() % route_count].prefix.address.template as<Address>());
    }
  }
  std::vector<Fib::Hop> hops(addresses.size());
  fib.value().find(std::span<const Address>(addresses), hops);
  size_t found_count = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    ASSERT_EQ(hops[i], model.find(addresses[i])) << net::IpAddress(addresses[i]).format();
    if (hops[i] != Fib::kNoHop) ++found_count;
    const auto prefix = fib.value().prefix_of(net::IpAddress(addresses[i]));
    ASSERT_EQ(prefix.has_value(), hops[i] != Fib::kNoHop);
    ASSERT_TRUE(!prefix || prefix->contains(net::IpAddress(addresses[i])));
  }
  EXPECT_GT(found_count, addresses.size() / 2);
}

Result<Eal> start() {
  std::vector<std::string> arguments = eal_arguments({"net_null0"});
  arguments.insert(arguments.end(), {"-m", "512"});
  return Eal::start(arguments);
}

TEST(FibTest, ipv4_is_as_a_model_says) {
  const Result<Eal> eal = start();
  ASSERT_TRUE(eal.ok()) << eal.error().message;
  expect_as_the_model<net::Ipv4Address>(100'000, 8);
}

TEST(FibTest, ipv6_is_as_a_model_says) {
  const Result<Eal> eal = start();
  ASSERT_TRUE(eal.ok()) << eal.error().message;
  expect_as_the_model<net::Ipv6Address>(10'000, 16);
}

TEST(FibTest, a_family_without_routes_finds_nothing_and_two_tables_stand_side_by_side) {
  const Result<Eal> eal = start();
  ASSERT_TRUE(eal.ok()) << eal.error().message;
  const net::IpPrefix all4{net::IpAddress(net::Ipv4Address{}), 0};
  const Result<Fib> one = Fib::create(std::vector<Fib::Route>{{all4, 1}});
  const Result<Fib> two = Fib::create(std::vector<Fib::Route>{{all4, 2}, {all4, 3}});
  ASSERT_TRUE(one.ok() && two.ok());
  const net::Ipv4Address ipv4{{192, 0, 2, 1}};
  const net::Ipv6Address ipv6{{0x20, 1}};
  Fib::Hop hop = 9;
  one.value().find(std::span(&ipv6, 1), std::span(&hop, 1));
  EXPECT_EQ(hop, Fib::kNoHop);
  EXPECT_FALSE(one.value().prefix_of(net::IpAddress(ipv6)).has_value());
  one.value().find(std::span(&ipv4, 1), std::span(&hop, 1));
  EXPECT_EQ(hop, 1U);
  two.value().find(std::span(&ipv4, 1), std::span(&hop, 1));
  EXPECT_EQ(hop, 2U);
}

}  // namespace
}  // namespace roost::io

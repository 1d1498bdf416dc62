// No two connections have the same end, and all ends are of the prefix.
#include "apps/trafficgen/datapath/client_ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/base/step_count.h"

namespace roost::trafficgen {
namespace {

TEST(ClientEnds, are_all_different_in_a_narrow_prefix) {
  for (const char* text : {"64.1.2.9/27", "2001:db8::/123"}) {
    const net::IpPrefix prefix = net::IpPrefix::parse(text).value();
    std::set<std::string> seen;
    const auto check = [&](const auto& clients) {
      ASSERT_EQ(clients.number_bits(), 5 + 15U);
      for (uint32_t number = 0; number < step_count(1U << 20); ++number) {
        const auto end = clients.of(number);
        if (number % 1'000 == 0) {
          ASSERT_TRUE(prefix.contains(end.address)) << end.address.format();
        }
        ASSERT_GE(end.port, 1'024);
        std::string bytes(reinterpret_cast<const char*>(end.address.bytes.data()),
                          end.address.bytes.size());
        bytes += std::to_string(end.port);
        ASSERT_TRUE(seen.insert(bytes).second) << "number " << number;
      }
    };
    if (prefix.address.is_ipv6()) {
      check(ClientEnds<net::Ipv6Address>(prefix));
    } else {
      check(ClientEnds<net::Ipv4Address>(prefix));
    }
  }
}

TEST(ClientEnds, are_all_different_in_a_wide_prefix) {
  const ClientEnds<net::Ipv4Address> clients(net::IpPrefix::parse("16.0.0.0/4").value());
  EXPECT_EQ(clients.number_bits(), 32U);
  std::vector<uint64_t> seen;
  for (uint32_t number = 0; number < step_count(4'000'000); ++number) {
    const auto end = clients.of(number * 2'654'435'761U);
    seen.push_back(uint64_t{net::load_be32(end.address.bytes.data())} << 16 | end.port);
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

}  // namespace
}  // namespace roost::trafficgen

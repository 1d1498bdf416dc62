// Routes: the longest prefix says by which neighbour.
#include "roost/l3/routes.h"

#include <gtest/gtest.h>

namespace roost::l3 {
namespace {

net::IpAddress ip(const char* text) { return net::IpAddress::parse(text).value(); }
net::IpPrefix prefix(const char* text) { return net::IpPrefix::parse(text).value(); }

InterfaceTable interfaces() {
  return InterfaceTable(
      {{.addresses = {prefix("192.0.2.1/24"), prefix("2001:db8:1::1/64")},
        .mac = {{2, 0, 0, 0, 0, 1}},
        .vlan = {}},
       {.addresses = {prefix("10.0.0.1/16")}, .mac = {{2, 0, 0, 0, 0, 2}}, .vlan = {}}});
}

TEST(RouteTable, the_longest_prefix_wins_and_a_connected_station_is_its_own_next_hop) {
  const RouteTable table(interfaces(),
                         std::vector<RouteConfig>{{prefix("0.0.0.0/0"), ip("192.0.2.254")},
                                                  {prefix("10.7.0.0/16"), ip("10.0.0.7")},
                                                  {prefix("10.0.5.0/24"), ip("10.0.0.5")},
                                                  {prefix("10.7.7.7/32"), ip("192.0.2.77")},
                                                  {prefix("::/0"), ip("2001:db8:1::fe")}});
  EXPECT_EQ(table.find(ip("192.0.2.10")), (RouteHop{0, ip("192.0.2.10")}));
  EXPECT_EQ(table.find(ip("10.0.9.9")), (RouteHop{1, ip("10.0.9.9")}));
  EXPECT_EQ(table.find(ip("10.0.5.9")), (RouteHop{1, ip("10.0.0.5")}));
  EXPECT_EQ(table.find(ip("10.7.7.6")), (RouteHop{1, ip("10.0.0.7")}));
  EXPECT_EQ(table.find(ip("10.7.7.7")), (RouteHop{0, ip("192.0.2.77")}));
  EXPECT_EQ(table.find(ip("8.8.8.8")), (RouteHop{0, ip("192.0.2.254")}));
  EXPECT_EQ(table.find(ip("2600::1")), (RouteHop{0, ip("2001:db8:1::fe")}));
  const RouteTable none(interfaces(), {});
  EXPECT_EQ(none.find(ip("8.8.8.8")), std::nullopt);
}

}  // namespace
}  // namespace roost::l3

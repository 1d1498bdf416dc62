// Connected networks, own addresses, and by which of them a port speaks.
#include "roost/l3/interface_table.h"

#include <gtest/gtest.h>

#include <string>

namespace roost::l3 {
namespace {

net::IpAddress address(const std::string& text) { return net::IpAddress::parse(text).value(); }
net::IpPrefix prefix(const std::string& text) { return net::IpPrefix::parse(text).value(); }

Interface interface_with(const std::vector<std::string>& addresses) {
  Interface interface;
  for (const std::string& text : addresses) interface.addresses.push_back(prefix(text));
  interface.mac = {{2, 0, 0, 0, 0, 1}};
  return interface;
}

TEST(InterfaceTable, the_longest_connected_prefix_decides_whatever_the_order_of_ports) {
  const Interface wide = interface_with({"10.0.0.1/8", "2001:db8::1/32"});
  const Interface narrow = interface_with({"10.1.0.1/16", "2001:db8:1::1/48"});
  for (const bool is_wide_first : {true, false}) {
    const InterfaceTable table(is_wide_first ? std::vector{wide, narrow}
                                             : std::vector{narrow, wide});
    const uint16_t wide_port = is_wide_first ? 0 : 1;
    const uint16_t narrow_port = is_wide_first ? 1 : 0;
    EXPECT_EQ(table.find_connected_port(address("10.1.2.3")), narrow_port);
    EXPECT_EQ(table.find_connected_port(address("10.2.2.3")), wide_port);
    EXPECT_EQ(table.find_connected_port(address("2001:db8:1::3")), narrow_port);
    EXPECT_EQ(table.find_connected_port(address("2001:db8:2::3")), wide_port);
    EXPECT_EQ(table.find_connected_port(address("10.1.0.0")), narrow_port);
    EXPECT_FALSE(table.find_connected_port(address("11.0.0.1")).has_value());
  }
}

TEST(InterfaceTable, a_network_of_one_family_contains_nobody_of_the_other) {
  const InterfaceTable table({interface_with({"10.0.0.1/8"}), interface_with({"192.0.2.1/0"})});
  EXPECT_EQ(table.find_connected_port(address("203.0.113.9")), 1);
  EXPECT_FALSE(table.find_connected_port(address("2001:db8::1")).has_value());
}

TEST(InterfaceTable, own_addresses_are_the_ports_and_nobody_elses) {
  const InterfaceTable table(
      {interface_with({"192.0.2.1/24"}), interface_with({"2001:db8::1/64"})});
  EXPECT_TRUE(table.is_own_address(address("192.0.2.1")));
  EXPECT_TRUE(table.is_own_address(address("2001:db8::1")));
  EXPECT_FALSE(table.is_own_address(address("192.0.2.2")));
}

TEST(InterfaceTable, a_port_speaks_by_its_address_in_the_others_network) {
  const Interface interface =
      interface_with({"192.0.2.1/24", "10.0.0.1/8", "2001:db8::1/64", "2001:db8:2::1/64"});
  EXPECT_EQ(source_towards(interface, address("10.9.9.9")), address("10.0.0.1"));
  EXPECT_EQ(source_towards(interface, address("203.0.113.1")), address("192.0.2.1"));
  EXPECT_EQ(source_towards(interface, address("2001:db8:2::9")), address("2001:db8:2::1"));
  EXPECT_EQ(source_towards(interface, address("2600::1")), address("2001:db8::1"));
  EXPECT_EQ(source_towards(interface_with({"192.0.2.1/24"}), address("2600::1")), std::nullopt);
}

TEST(InterfaceTable, a_port_is_what_its_configuration_says_or_its_device) {
  const std::vector<PortConfig> ports = {
      {.addresses = {prefix("192.0.2.1/24")}, .vlan = {100, 7}, .mtu = 9'000},
      {.addresses = {prefix("10.0.0.1/8")}, .mac = net::MacAddress{{2, 0, 0, 0, 0, 9}}}};
  const std::vector<net::MacAddress> devices = {{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};
  const InterfaceTable table(ports, devices);
  const Interface& first = table.interfaces()[0];
  EXPECT_EQ(first.mac, devices[0]);
  EXPECT_EQ(first.mtu, 9'000);
  ASSERT_EQ(first.vlan.count, 2U);
  EXPECT_EQ(first.vlan.tags[0].protocol_identifier, net::vlan::kService);
  EXPECT_EQ(first.vlan.tags[0].identifier(), 100);
  EXPECT_EQ(first.vlan.tags[1].protocol_identifier, net::vlan::kCustomer);
  EXPECT_EQ(table.interfaces()[1].mac.format(), "02:00:00:00:00:09");
  EXPECT_EQ(table.interfaces()[1].mtu, kMtuDefault);
}

}  // namespace
}  // namespace roost::l3

// Next hops by connected network and neighbour, and every configuration that would be ambiguous.
#include "roost/node/interface_table.h"

#include <gtest/gtest.h>

#include <string>

namespace roost::node {
namespace {

net::IpAddress address(const std::string& text) { return net::IpAddress::parse(text).value(); }
net::IpPrefix prefix(const std::string& text) { return net::IpPrefix::parse(text).value(); }
net::MacAddress mac(uint8_t last) { return {{2, 0, 0, 0, 0, last}}; }

Interface interface_with(const std::vector<std::string>& addresses, uint16_t mtu = kMtuDefault) {
  Interface interface;
  for (const std::string& text : addresses) interface.addresses.push_back(prefix(text));
  interface.mac = mac(1);
  interface.mtu = mtu;
  return interface;
}

// The message of the refusal; empty when the table was made.
std::string refusal(const std::vector<Interface>& interfaces,
                    const std::vector<Neighbour>& neighbours = {}) {
  const Result<InterfaceTable> table = InterfaceTable::create(interfaces, neighbours);
  return table.ok() ? "" : table.error().message;
}

void expect_refused(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos)
      << "\"" << message << "\" lacks \"" << part << "\"";
}

TEST(InterfaceTable, neighbours_leave_by_the_port_of_their_network) {
  const std::vector<Neighbour> neighbours = {{address("192.0.2.10"), mac(10)},
                                             {address("10.0.0.11"), mac(11)},
                                             {address("10.0.0.2"), mac(12)},
                                             {address("2001:db8:2::11"), mac(13)}};
  const Result<InterfaceTable> table =
      InterfaceTable::create({interface_with({"192.0.2.1/24", "2001:db8:1::1/64"}),
                              interface_with({"10.0.0.1/24", "2001:db8:2::1/64"})},
                             neighbours);
  ASSERT_TRUE(table.ok()) << table.error().message;
  const auto expect_next_hop = [&](const std::string& text, uint16_t port, uint8_t last) {
    const NextHop* next_hop = table.value().find_next_hop(address(text));
    ASSERT_NE(next_hop, nullptr) << text;
    EXPECT_EQ(*next_hop, (NextHop{port, mac(last)})) << text;
  };
  expect_next_hop("192.0.2.10", 0, 10);
  expect_next_hop("10.0.0.11", 1, 11);
  expect_next_hop("10.0.0.2", 1, 12);
  expect_next_hop("2001:db8:2::11", 1, 13);
  for (const char* unknown :
       {"192.0.2.11", "10.0.0.1", "203.0.113.1", "2001:db8:2::12", "0.0.0.0", "::"}) {
    EXPECT_EQ(table.value().find_next_hop(address(unknown)), nullptr) << unknown;
  }
}

TEST(InterfaceTable, the_longest_connected_prefix_decides_whatever_the_order_of_ports) {
  const Interface wide = interface_with({"10.0.0.1/8", "2001:db8::1/32"});
  const Interface narrow = interface_with({"10.1.0.1/16", "2001:db8:1::1/48"});
  const std::vector<Neighbour> neighbours = {{address("10.1.2.3"), mac(1)},
                                             {address("10.2.2.3"), mac(2)},
                                             {address("2001:db8:1::3"), mac(3)},
                                             {address("2001:db8:2::3"), mac(4)}};
  for (const bool is_wide_first : {true, false}) {
    const std::vector<Interface> interfaces =
        is_wide_first ? std::vector{wide, narrow} : std::vector{narrow, wide};
    const Result<InterfaceTable> table = InterfaceTable::create(interfaces, neighbours);
    ASSERT_TRUE(table.ok()) << table.error().message;
    const uint16_t wide_port = is_wide_first ? 0 : 1;
    const uint16_t narrow_port = is_wide_first ? 1 : 0;
    EXPECT_EQ(table.value().find_next_hop(address("10.1.2.3"))->out_port, narrow_port);
    EXPECT_EQ(table.value().find_next_hop(address("10.2.2.3"))->out_port, wide_port);
    EXPECT_EQ(table.value().find_next_hop(address("2001:db8:1::3"))->out_port, narrow_port);
    EXPECT_EQ(table.value().find_next_hop(address("2001:db8:2::3"))->out_port, wide_port);
    EXPECT_EQ(table.value().find_connected_port(address("10.1.0.0")), narrow_port);
    EXPECT_FALSE(table.value().find_connected_port(address("11.0.0.1")).has_value());
  }
}

TEST(InterfaceTable, a_default_network_takes_what_no_other_contains) {
  const std::vector<Neighbour> neighbours = {{address("203.0.113.9"), mac(9)}};
  const Result<InterfaceTable> table = InterfaceTable::create(
      {interface_with({"10.0.0.1/8"}), interface_with({"192.0.2.1/0"})}, neighbours);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table.value().find_next_hop(address("203.0.113.9"))->out_port, 1u);
  // IPv6 is another family: no network of IPv4 contains it.
  EXPECT_FALSE(table.value().find_connected_port(address("2001:db8::1")).has_value());
}

TEST(InterfaceTable, own_addresses_are_the_ports_and_nobody_elses) {
  const Result<InterfaceTable> table = InterfaceTable::create(
      {interface_with({"192.0.2.1/24"}), interface_with({"2001:db8::1/64"})}, {});
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table.value().is_own_address(address("192.0.2.1")));
  EXPECT_TRUE(table.value().is_own_address(address("2001:db8::1")));
  EXPECT_FALSE(table.value().is_own_address(address("192.0.2.2")));
}

TEST(InterfaceTable, an_address_or_a_network_on_two_ports_is_refused) {
  expect_refused(refusal({interface_with({"192.0.2.1/24"}), interface_with({"192.0.2.1/25"})}),
                 "port 1: 192.0.2.1 is already the address of port 0");
  expect_refused(refusal({interface_with({"192.0.2.1/24"}), interface_with({"192.0.2.2/24"})}),
                 "port 1: the network of 192.0.2.2/24 is already connected to port 0");
  expect_refused(refusal({interface_with({"192.0.2.1/24", "192.0.2.1/24"})}),
                 "port 0: 192.0.2.1 is already");
  EXPECT_EQ(refusal({interface_with({"192.0.2.1/24", "192.0.2.2/24"})}), "");
  EXPECT_EQ(refusal({interface_with({"192.0.2.1/24"}), interface_with({"192.0.2.130/25"})}), "");
}

TEST(InterfaceTable, an_mtu_below_the_ip_versions_least_is_refused) {
  expect_refused(refusal({interface_with({"192.0.2.1/24"}, 67)}), "port 0: MTU 67 is too small");
  EXPECT_EQ(refusal({interface_with({"192.0.2.1/24"}, 68)}), "");
  expect_refused(refusal({interface_with({"2001:db8::1/64"}, 1279)}), "the least is 1280");
  EXPECT_EQ(refusal({interface_with({"2001:db8::1/64"}, 1280)}), "");
}

TEST(InterfaceTable, wrong_neighbours_are_refused_by_name) {
  const std::vector<Interface> interfaces = {interface_with({"192.0.2.1/24"})};
  expect_refused(refusal(interfaces, {{address("10.0.0.1"), mac(1)}}),
                 "neighbour 10.0.0.1: no port's network contains it");
  expect_refused(refusal(interfaces, {{address("192.0.2.1"), mac(1)}}),
                 "neighbour 192.0.2.1: this is a port's own address");
  expect_refused(
      refusal(interfaces, {{address("192.0.2.9"), mac(1)}, {address("192.0.2.9"), mac(2)}}),
      "neighbour 192.0.2.9: it is given twice");
  expect_refused(refusal(interfaces, {{address("192.0.2.9"), {{1, 0, 0x5e, 0, 0, 1}}}}),
                 "neighbour 192.0.2.9: 01:00:5e:00:00:01 is the MAC of a group");
}

TEST(InterfaceTable, a_group_mac_on_a_port_is_refused) {
  Interface interface = interface_with({"192.0.2.1/24"});
  interface.mac = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  expect_refused(refusal({interface}), "port 0: ff:ff:ff:ff:ff:ff is the MAC of a group");
}

}  // namespace
}  // namespace roost::node

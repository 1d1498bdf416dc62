// Text forms and prefixes of addresses.
#include "roost/net/address.h"

#include <gtest/gtest.h>

#include <string_view>

namespace roost::net {
namespace {

using std::string_view_literals::operator""sv;

template <class Address>
void expect_round_trip(std::string_view text, std::string_view canonical) {
  const Result<Address> parsed = Address::parse(text);
  ASSERT_TRUE(parsed.ok()) << text;
  EXPECT_EQ(parsed.value().format(), canonical);
}

template <class Address>
void expect_refused(std::string_view text) {
  const Result<Address> parsed = Address::parse(text);
  ASSERT_FALSE(parsed.ok()) << text;
  EXPECT_NE(parsed.error().message.find("write it like"), std::string::npos) << text;
}

TEST(Address, canonical_text_parses_and_formats_back) {
  expect_round_trip<MacAddress>("02:00:00:00:01:10", "02:00:00:00:01:10");
  expect_round_trip<MacAddress>("AA:bb:CC:dd:EE:ff", "aa:bb:cc:dd:ee:ff");
  expect_round_trip<Ipv4Address>("192.0.2.1", "192.0.2.1");
  expect_round_trip<Ipv6Address>("2001:DB8:0:0:0:0:0:1", "2001:db8::1");
  expect_round_trip<Ipv6Address>("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1");
  expect_round_trip<IpAddress>("10.0.0.1", "10.0.0.1");
  expect_round_trip<IpAddress>("::", "::");
  expect_round_trip<IpPrefix>("192.0.2.1/24", "192.0.2.1/24");
  expect_round_trip<IpPrefix>("2001:db8:1::1/64", "2001:db8:1::1/64");
  expect_round_trip<IpPrefix>("0.0.0.0/0", "0.0.0.0/0");
}

TEST(Address, anything_else_is_refused_with_an_example) {
  for (const std::string_view text :
       {""sv, "02:00:00:00:01"sv, "02:00:00:00:01:1"sv, "02-00-00-00-01-10"sv,
        "02:00:00:00:01:1g"sv, "02:00:00:00:01:10 "sv, "02:00:00:00:01:100"sv}) {
    expect_refused<MacAddress>(text);
  }
  for (const std::string_view text :
       {""sv, "192.0.2"sv, "192.0.2.256"sv, "192.0.02.1"sv, "192.0.2.1 "sv, " 192.0.2.1"sv,
        "192.0.2.1.1"sv, "0x7f.1"sv, "192.0.2.1\0x"sv, "::1"sv}) {
    expect_refused<Ipv4Address>(text);
  }
  for (const std::string_view text :
       {""sv, "192.0.2.1"sv, ":::"sv, "2001:db8::1::2"sv, "fe80::1%eth0"sv, "1:2:3:4:5:6:7"sv,
        "12345::"sv, "[::1]"sv}) {
    expect_refused<Ipv6Address>(text);
  }
  for (const std::string_view text :
       {"192.0.2.1"sv, "192.0.2.1/"sv, "192.0.2.1/ 24"sv, "192.0.2.1/024"sv, "192.0.2.1/24x"sv,
        "192.0.2.1/-1"sv, "192.0.2.1/256"sv, "/24"sv}) {
    expect_refused<IpPrefix>(text);
  }
}

TEST(Address, a_prefix_longer_than_its_address_is_refused_with_the_limit) {
  EXPECT_NE(IpPrefix::parse("192.0.2.1/33").error().message.find("at most /32"), std::string::npos);
  EXPECT_NE(IpPrefix::parse("::1/129").error().message.find("at most /128"), std::string::npos);
}

bool contains(std::string_view prefix, std::string_view address) {
  return IpPrefix::parse(prefix).value().contains(IpAddress::parse(address).value());
}

TEST(Address, a_prefix_contains_what_shares_its_bits) {
  EXPECT_TRUE(contains("192.0.2.1/24", "192.0.2.255"));
  EXPECT_FALSE(contains("192.0.2.1/24", "192.0.3.1"));
  EXPECT_TRUE(contains("192.0.2.1/23", "192.0.3.1"));
  EXPECT_TRUE(contains("10.0.0.0/9", "10.127.0.0"));
  EXPECT_FALSE(contains("10.0.0.0/9", "10.128.0.0"));
  EXPECT_TRUE(contains("192.0.2.1/32", "192.0.2.1"));
  EXPECT_FALSE(contains("192.0.2.1/32", "192.0.2.0"));
  EXPECT_TRUE(contains("0.0.0.0/0", "255.255.255.255"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_FALSE(contains("2001:db8::1/128", "2001:db8::2"));
}

TEST(Address, families_never_mix) {
  EXPECT_FALSE(contains("0.0.0.0/0", "::"));
  EXPECT_FALSE(contains("::/0", "0.0.0.0"));
  EXPECT_NE(IpAddress(Ipv4Address()), IpAddress(Ipv6Address()));
}

TEST(Address, the_group_bit_makes_a_mac_address_multicast) {
  EXPECT_TRUE(MacAddress::parse("ff:ff:ff:ff:ff:ff").value().is_multicast());
  EXPECT_TRUE(MacAddress::parse("01:80:c2:00:00:0e").value().is_multicast());
  EXPECT_FALSE(MacAddress::parse("02:00:00:00:00:01").value().is_multicast());
}

}  // namespace
}  // namespace roost::net

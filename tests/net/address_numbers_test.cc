// Addresses beside a map, with many that are nearly there.
#include "roost/net/address_numbers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace roost::net {
namespace {

// Of a few networks, so that many are asked for that nearly are there.
template <class Address>
Address random_address(std::mt19937_64& random) {
  const auto host = static_cast<uint16_t>(random() % 4'096);
  const auto high = static_cast<uint8_t>(host >> 8);
  const auto low = static_cast<uint8_t>(host);
  if constexpr (std::same_as<Address, Ipv4Address>) {
    return {{192, 0, high, low}};
  } else {
    // Some differ in their first half only, some in the second.
    return {{32, 1, high, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, random() % 2 == 0 ? low : uint8_t{0}}};
  }
}

template <class Address>
void expect_numbers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<Address, uint16_t>> numbered;
  std::map<Address, uint16_t> expected;
  for (size_t number = 0; number < count; ++number) {
    numbered.emplace_back(random_address<Address>(random), static_cast<uint16_t>(number));
    expected.insert(numbered.back());  // the first one stays
  }
  const AddressNumbers<Address> numbers(numbered);
  for (const auto& [address, number] : expected) ASSERT_EQ(numbers.find(address), number);
  size_t found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto address = random_address<Address>(random);
    const auto place = expected.find(address);
    const auto number = numbers.find(address);
    ASSERT_EQ(number.has_value(), place != expected.end()) << address.format();
    if (number) {
      ASSERT_EQ(*number, place->second) << address.format();
    }
    found += number.has_value();
  }
  EXPECT_EQ(found > 0, count > 0);
}

TEST(AddressNumbers, are_those_of_a_map) {
  for (const size_t count : {0U, 1U, 2U, 7U, 64U, 1'000U, 10'000U}) {
    expect_numbers<Ipv4Address>(count, count);
    expect_numbers<Ipv6Address>(count, count);
  }
}

TEST(AddressNumbers, none_has_none) {
  EXPECT_FALSE(AddressNumbers<Ipv4Address>().find({}));
  EXPECT_FALSE(AddressNumbers<Ipv6Address>().find({}));
}

}  // namespace
}  // namespace roost::net

// Mappings against a bitmap of ports and a list of who has which.
#include "roost/conntrack/port_mappings.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "roost/net/headers.h"
#include "tests/base/step_count.h"

namespace roost::conntrack {
namespace {

using net::Endpoint4;
using net::IpProtocol;

constexpr std::array kProtocols = {IpProtocol::kTcp, IpProtocol::kUdp, net::kProtocolIcmp4};

PortMappings make_mappings(PortMappings::Config config) {
  if (config.mappings_max == 0) config.mappings_max = 1'000'000;
  config.static_max = 16;
  config.hash_seed = 7;
  auto made = PortMappings::create(config);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

Endpoint4 end_of_host(uint32_t number, uint16_t port) {
  return {{{10, static_cast<uint8_t>(number >> 16), static_cast<uint8_t>(number >> 8),
            static_cast<uint8_t>(number)}},
          port};
}

struct Owner {
  IpProtocol protocol{};
  Endpoint4 inside{};
  size_t address = 0;
  uint32_t holders = 0;
  BoundPort bound{};
};

// The same in plain words: which ports are taken, and what each endpoint has.
class NaiveMappings {
 public:
  static constexpr uint16_t kFirst = 1'024;
  static constexpr size_t kPorts = 8'192;
  static constexpr size_t kAddresses = 2;

  explicit NaiveMappings(uint64_t seed) : random_(seed) {
    for (const IpProtocol protocol : kProtocols) {
      for (uint32_t i = 0; i < 20'000; ++i) {
        owners_.push_back(
            {protocol, end_of_host(i, static_cast<uint16_t>(i + 1)), random_() % kAddresses});
      }
    }
  }

  void step(PortMappings& mappings) {
    Owner& owner = owners_[random_() % owners_.size()];
    if (owner.holders != 0 && random_() % 16 < 9) return release(owner, mappings);
    if (owner.holders != 0 && random_() % 2 == 0) {
      mappings.hold(owner.protocol, owner.bound);
      ++owner.holders;
      return;
    }
    const auto mapped = mappings.map(owner.protocol, owner.inside, owner.address);
    if (owner.holders != 0) {
      ++owner.holders;
      ASSERT_EQ(mapped.bound.port, owner.bound.port);
    } else if (mapped.outcome == MapOutcome::kMapped) {
      take(owner, mapped.bound);
    } else {
      ASSERT_EQ(taken_in(owner), kPorts) << "refused while a port was free";
      ++refused;
    }
  }

  void end_all(PortMappings& mappings) {
    for (Owner& owner : owners_) {
      while (owner.holders != 0) release(owner, mappings);
    }
  }

  // Whether each endpoint leads to its port and back.
  void compare(const PortMappings& mappings) const {
    for (const Owner& owner : owners_) {
      if (owner.holders == 0) continue;
      ASSERT_EQ(mappings.inside_of(owner.protocol, owner.bound), owner.inside);
    }
  }

  uint64_t created = 0;
  uint64_t refused = 0;
  uint64_t of_same_parity = 0;

 private:
  static size_t block_of(const Owner& owner) {
    size_t protocol = 0;
    while (kProtocols[protocol] != owner.protocol) ++protocol;
    return protocol * kAddresses + owner.address;
  }
  static size_t bit_of(const Owner& owner) {
    return block_of(owner) * kPorts + owner.bound.port - kFirst;
  }
  [[nodiscard]] size_t taken_in(const Owner& owner) const { return taken_counts_[block_of(owner)]; }

  void take(Owner& owner, BoundPort bound) {
    owner.bound = bound;
    owner.holders = 1;
    ASSERT_EQ(bound.address, owner.address);
    ASSERT_TRUE(bound.port >= kFirst && bound.port < kFirst + kPorts);
    ASSERT_FALSE(is_taken_[bit_of(owner)]) << "a port with two owners";
    is_taken_[bit_of(owner)] = true;
    ++taken_counts_[block_of(owner)];
    ++created;
    if (bound.port % 2 == owner.inside.port % 2) ++of_same_parity;
  }
  void release(Owner& owner, PortMappings& mappings) {
    mappings.release(owner.protocol, owner.bound);
    if (--owner.holders != 0) return;
    is_taken_[bit_of(owner)] = false;
    --taken_counts_[block_of(owner)];
  }

  std::mt19937_64 random_;
  std::vector<Owner> owners_;
  std::vector<bool> is_taken_ = std::vector<bool>(kProtocols.size() * kAddresses * kPorts);
  std::array<size_t, kProtocols.size() * kAddresses> taken_counts_{};
};

TEST(PortMappings, no_port_has_two_owners_and_none_is_lost_in_ten_million_steps) {
  const uint64_t seed = 45;
  RecordProperty("seed", static_cast<int>(seed));
  PortMappings mappings =
      make_mappings({.address_count = NaiveMappings::kAddresses,
                     .first_port = NaiveMappings::kFirst,
                     .last_port = NaiveMappings::kFirst + NaiveMappings::kPorts - 1});
  NaiveMappings naive(seed);
  const uint64_t steps = step_count(10'000'000);
  for (uint64_t i = 0; i < steps && !HasFatalFailure(); ++i) {
    naive.step(mappings);
    if (i % 2'500'000 == 0) naive.compare(mappings);
  }
  naive.compare(mappings);
  EXPECT_TRUE(mappings.audit());
  EXPECT_EQ(mappings.counters().created, naive.created);
  EXPECT_EQ(mappings.counters().refused_no_port, naive.refused);
  EXPECT_GT(naive.refused, steps / 10'000);
  EXPECT_GT(naive.created, steps / 10);
  naive.end_all(mappings);
  EXPECT_EQ(mappings.live_count(), 0u);
  EXPECT_TRUE(mappings.audit());
  // All of them can be taken once more.
  for (uint32_t i = 0; i < NaiveMappings::kPorts; ++i) {
    ASSERT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(i, 5), 1).outcome, MapOutcome::kMapped);
  }
  EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(99'999, 5), 1).outcome, MapOutcome::kNoPort);
}

TEST(PortMappings, the_201st_of_200_ports_is_refused_and_the_others_stay) {
  PortMappings mappings =
      make_mappings({.address_count = 1, .first_port = 2'000, .last_port = 2'199});
  std::vector<BoundPort> bound;
  for (uint32_t i = 0; i < 200; ++i) {
    const auto mapped = mappings.map(IpProtocol::kTcp, end_of_host(i, 80), 0);
    ASSERT_EQ(mapped.outcome, MapOutcome::kMapped);
    bound.push_back(mapped.bound);
  }
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(200, 80), 0).outcome, MapOutcome::kNoPort);
  EXPECT_EQ(mappings.counters().refused_no_port, 1u);
  EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(200, 80), 0).outcome, MapOutcome::kMapped);
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(mappings.inside_of(IpProtocol::kTcp, bound[i]), end_of_host(i, 80));
  }
  for (const BoundPort& one : bound) mappings.release(IpProtocol::kTcp, one);
  EXPECT_EQ(mappings.live_count(), 1u);
  EXPECT_TRUE(mappings.audit());
}

TEST(PortMappings, ports_keep_the_parity_of_the_endpoint_while_there_are_such) {
  PortMappings mappings =
      make_mappings({.address_count = 1, .first_port = 2'000, .last_port = 2'009});
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(i, 4'001), 0).bound.port % 2, 1);
  }
  EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(9, 4'001), 0).outcome, MapOutcome::kMapped);
}

TEST(PortMappings, a_port_is_used_again_after_all_others) {
  PortMappings mappings =
      make_mappings({.address_count = 1, .first_port = 2'000, .last_port = 2'199});
  const auto first = mappings.map(IpProtocol::kUdp, end_of_host(1, 2), 0);
  mappings.release(IpProtocol::kUdp, first.bound);
  for (uint32_t i = 0; i < 99; ++i) {
    const auto mapped = mappings.map(IpProtocol::kUdp, end_of_host(1, 2), 0);
    EXPECT_NE(mapped.bound.port, first.bound.port);
    mappings.release(IpProtocol::kUdp, mapped.bound);
  }
  EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(1, 2), 0).bound.port, first.bound.port);
}

TEST(PortMappings, ports_do_not_come_in_their_order) {
  PortMappings mappings = make_mappings({.address_count = 1});
  size_t next_to_last = 0;
  uint16_t last = 0;
  for (uint32_t i = 0; i < 1'000; ++i) {
    const uint16_t port = mappings.map(IpProtocol::kTcp, end_of_host(i, 2), 0).bound.port;
    if (port == last + 2) ++next_to_last;
    last = port;
  }
  EXPECT_LT(next_to_last, 10u);
}

TEST(PortMappings, a_host_has_no_more_ports_than_it_may) {
  PortMappings mappings = make_mappings({.address_count = 1, .ports_per_host = 3});
  std::vector<BoundPort> bound;
  for (uint16_t port = 1; port <= 3; ++port) {
    const auto mapped = mappings.map(kProtocols[port - 1], end_of_host(1, port), 0);
    ASSERT_EQ(mapped.outcome, MapOutcome::kMapped);
    bound.push_back(mapped.bound);
  }
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(1, 9), 0).outcome, MapOutcome::kHostLimit);
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(2, 9), 0).outcome, MapOutcome::kMapped);
  EXPECT_EQ(mappings.counters().refused_by_limit, 1u);
  mappings.release(kProtocols[0], bound[0]);
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(1, 9), 0).outcome, MapOutcome::kMapped);
  mappings.set_ports_per_host(0);
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(1, 10), 0).outcome, MapOutcome::kMapped);
  EXPECT_TRUE(mappings.audit());
}

TEST(PortMappings, a_static_mapping_needs_no_holder_and_nobody_else_gets_its_port) {
  PortMappings mappings =
      make_mappings({.address_count = 1, .first_port = 2'000, .last_port = 2'003});
  const BoundPort bound{0, 2'002};
  ASSERT_TRUE(mappings.reserve(IpProtocol::kTcp, bound));
  EXPECT_FALSE(mappings.reserve(IpProtocol::kTcp, bound));
  mappings.add_static(IpProtocol::kTcp, bound, end_of_host(1, 80));
  EXPECT_EQ(mappings.inside_of(IpProtocol::kTcp, bound), end_of_host(1, 80));
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(1, 80), 0).bound.port, 2'002);
  mappings.release(IpProtocol::kTcp, bound);
  EXPECT_EQ(mappings.inside_of(IpProtocol::kTcp, bound), end_of_host(1, 80));
  std::set<uint16_t> others;
  for (uint32_t i = 2; i < 5; ++i)
    others.insert(mappings.map(IpProtocol::kTcp, end_of_host(i, 80), 0).bound.port);
  EXPECT_EQ(others, (std::set<uint16_t>{2'000, 2'001, 2'003}));
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(5, 80), 0).outcome, MapOutcome::kNoPort);
  EXPECT_TRUE(mappings.audit());
  mappings.remove_static(IpProtocol::kTcp, bound);
  EXPECT_EQ(mappings.map(IpProtocol::kTcp, end_of_host(5, 80), 0).bound.port, 2'002);
  EXPECT_TRUE(mappings.audit());
}

TEST(PortMappings, a_removed_static_mapping_ends_with_its_last_connection) {
  PortMappings mappings = make_mappings({.address_count = 1, .ports_per_host = 1});
  const BoundPort bound{0, 80};
  ASSERT_TRUE(mappings.reserve(IpProtocol::kTcp, bound));
  mappings.add_static(IpProtocol::kTcp, bound, end_of_host(1, 8'080));
  mappings.hold(IpProtocol::kTcp, bound);
  mappings.remove_static(IpProtocol::kTcp, bound);
  EXPECT_EQ(mappings.inside_of(IpProtocol::kTcp, bound), end_of_host(1, 8'080));
  EXPECT_EQ(mappings.live_count(), 1u);
  mappings.release(IpProtocol::kTcp, bound);
  EXPECT_FALSE(mappings.inside_of(IpProtocol::kTcp, bound));
  EXPECT_EQ(mappings.live_count(), 0u);
  EXPECT_TRUE(mappings.reserve(IpProtocol::kTcp, bound));
  mappings.cancel(IpProtocol::kTcp, bound);
  EXPECT_TRUE(mappings.audit());
}

// Connections of before keep their external end; new ones get that of the static mapping.
TEST(PortMappings, a_static_mapping_comes_in_front_of_a_live_one_of_the_same_endpoint) {
  PortMappings mappings = make_mappings({.address_count = 1});
  const auto before = mappings.map(IpProtocol::kUdp, end_of_host(1, 53), 0);
  const BoundPort bound{0, 53};
  ASSERT_TRUE(mappings.reserve(IpProtocol::kUdp, bound));
  mappings.add_static(IpProtocol::kUdp, bound, end_of_host(1, 53));
  EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(1, 53), 0).bound.port, 53);
  EXPECT_EQ(mappings.inside_of(IpProtocol::kUdp, before.bound), end_of_host(1, 53));
  mappings.release(IpProtocol::kUdp, before.bound);
  EXPECT_FALSE(mappings.inside_of(IpProtocol::kUdp, before.bound));
  EXPECT_EQ(mappings.map(IpProtocol::kUdp, end_of_host(1, 53), 0).bound.port, 53);
  EXPECT_TRUE(mappings.audit());
}

TEST(PortMappings, each_worker_has_the_ports_of_its_addresses) {
  PortMappings second = make_mappings({.address_count = 3, .worker = 1, .worker_count = 2});
  const auto mapped = second.map(IpProtocol::kTcp, end_of_host(1, 1), 1);
  EXPECT_EQ(mapped.bound.address, 1);
  std::vector<PortMappings::Row> rows;
  uint64_t place = 0;
  EXPECT_FALSE(second.walk(place, UINT64_MAX, [&](const auto& row) { rows.push_back(row); }));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].bound.address, 1);
  EXPECT_EQ(rows[0].bound.port, mapped.bound.port);
  EXPECT_EQ(rows[0].inside, end_of_host(1, 1));
}

}  // namespace
}  // namespace roost::conntrack

// Two workers that hand packets to each other: what belongs to a connection meets at one of them.
#include "tests/firewall/filtered.h"

namespace roost::firewall {
namespace {

TEST_F(Filtered, both_directions_of_a_connection_meet_at_one_worker) {
  std::mt19937_64 random(11);
  for (const bool is_ipv6 : {false, true}) {
    for (uint32_t i = 0; i < 100; ++i) {
      PacketSpec syn = kSyn;
      syn.source = fmt::format(fmt::runtime(is_ipv6 ? "2001:db8:1::{}" : "192.0.2.{}"), i + 1);
      if (is_ipv6) syn.destination = "2001:db8:2::80";
      EXPECT_EQ(send(syn, 0, random() % 2), "pass");
      const size_t owner = decided_by;
      EXPECT_EQ(send(answer_to(syn, flags::kSyn | flags::kAck), 1, random() % 2), "pass");
      EXPECT_EQ(decided_by, owner);
      if (is_ipv6) continue;
      const Bytes error = lb::make_icmp_error({.source = "203.0.113.9", .destination = syn.source},
                                              make_frame(syn), 28);
      EXPECT_EQ(send(error, 1, random() % 2), "pass");
      EXPECT_EQ(decided_by, owner) << "an error meets the connection that it is about";
    }
  }
  EXPECT_EQ(begun(), 200U);
  EXPECT_GT(state(0).filter_counters().begun, 50U);
  EXPECT_GT(state(1).filter_counters().begun, 50U);
}

TEST_F(Filtered, fragments_meet_their_first_one) {
  std::mt19937_64 random(12);
  for (lb::FragmentFamily family : {lb::kFragments4, lb::kFragments6}) {
    for (uint16_t id = 0; id < 30; ++id) {
      family.client =
          fmt::format(fmt::runtime(family.is_ipv6() ? "2001:db8:1::{}" : "192.0.2.{}"), id + 1);
      const std::vector<Bytes> parts =
          lb::fragments_of(family, lb::query(family, 2'000), id, random);
      EXPECT_EQ(send(parts[1], 0, random() % 2), "kept");
      const size_t owner = decided_by;
      EXPECT_EQ(send(parts[0], 0, random() % 2), "pass");
      EXPECT_EQ(decided_by, owner);
      EXPECT_EQ(take_own(datapath(owner)), std::vector<Bytes>{parts[1]});
      for (size_t i = 2; i < parts.size(); ++i) {
        EXPECT_EQ(send(parts[i], 0, random() % 2), "pass");
        EXPECT_EQ(decided_by, owner);
      }
    }
  }
  EXPECT_EQ(begun(), 60U);
}

}  // namespace
}  // namespace roost::firewall

// How many fragments the load balancer keeps, and which are evicted for others.
#include <gtest/gtest.h>

#include <random>

#include "tests/base/step_count.h"
#include "tests/lb/test_fragments.h"

namespace roost::lb {
namespace {

class FragmentLimits : public testing::TestWithParam<FragmentFamily> {};

INSTANTIATE_TEST_SUITE_P(both, FragmentLimits, testing::Values(kFragments4, kFragments6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(FragmentLimits, wait_in_bounds_and_not_for_ever) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  for (uint16_t id = 1; id <= 400; ++id) {
    EXPECT_TRUE(balancer.send({fragment_of(f, whole, 400, 800, id)}).is_consumed) << id;
  }
  EXPECT_EQ(balancer.report().fragments.waiting, 256U);
  EXPECT_EQ(balancer.report().fragments.counters.expired, 400U - 256);
  // The last 256 wait still, the others do not.
  for (const uint16_t id : {uint16_t{144}, uint16_t{145}, uint16_t{400}}) {
    balancer.originated.clear();
    EXPECT_EQ(balancer.send({fragment_of(f, whole, 0, 400, id)}).cause, std::nullopt);
    EXPECT_EQ(balancer.originated.size(), id == 144 ? 0U : 1U) << id;
  }
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  for (int tick = 0; tick < 3'000; ++tick) {
    ++balancer.now.count;
    balancer.idle();
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.fragments.waiting, 0U);
  EXPECT_EQ(report.fragments.counters.expired, 400U - 2);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// Of 9,000 datagrams that miss a part, the last 4,096 are known, and new ones find room.
TEST_P(FragmentLimits, of_the_oldest_datagrams_give_way) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  const auto cause = [&](size_t begin, size_t end, size_t id) {
    return balancer.send({fragment_of(f, whole, begin, end, static_cast<uint16_t>(id))}).cause;
  };
  constexpr size_t kAll = 9'000;
  for (size_t id = 1; id <= kAll; ++id) {
    ASSERT_EQ(cause(0, 400, id), std::nullopt) << id;
    // Some are whole in between, and forgotten before their turn.
    if (id % 3 == 0) {
      ASSERT_EQ(cause(400, 1'008, id), std::nullopt) << id;
    }
  }
  const auto follows = [&](size_t id) {
    const uint64_t before = balancer.report().fragments.counters.followed;
    static_cast<void>(cause(400, 800, id));
    return balancer.report().fragments.counters.followed != before;
  };
  EXPECT_TRUE(follows(kAll - 1));
  EXPECT_TRUE(follows(kAll - 4'000));
  EXPECT_FALSE(follows(1'000));
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// A fragment takes a place only if it can be of a connection.
TEST_P(FragmentLimits, for_addresses_that_nobody_balances_take_no_place) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  PacketSpec spec = query(f, 1'000);
  spec.destination = f.is_ipv6() ? "2001:db8:ffff::99" : "198.51.100.99";
  const Bytes strange = make_frame(spec);
  const Bytes wanted = make_frame(query(f, 1'000));
  for (uint16_t id = 1; id <= 10'000; ++id) {
    ASSERT_EQ(balancer.send({fragment_of(f, strange, 400, 800, id)}).cause, drop_cause::kNoService);
  }
  EXPECT_EQ(balancer.report().fragments.counters.waited, 0U);
  EXPECT_TRUE(balancer.send({fragment_of(f, wanted, 400, 800, 1)}).is_consumed);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// While a flood of later fragments for a service goes on, and between any two datagrams of real
// clients more fragments come than can wait.
TEST_P(FragmentLimits, of_real_clients_pass_a_flood) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  std::mt19937_64 random(kSeed);
  const Bytes flood = [&] {
    PacketSpec spec = query(f, 1'000);
    spec.source = f.is_ipv6() ? "2001:db8:1::66" : "192.0.2.66";
    return make_frame(spec);
  }();
  uint16_t flood_id = 0;
  constexpr auto kDatagrams = static_cast<uint16_t>(step_count(500, 5));
  for (uint16_t id = 1; id <= kDatagrams; ++id) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(balancer.send({fragment_of(f, flood, 400, 800, ++flood_id)}).is_consumed);
    }
    const PacketSpec spec = query(f, 1'000);
    std::vector<Bytes> fragments = fragments_of(f, spec, id, random);
    std::ranges::shuffle(fragments, random);
    if (fragments.size() > conntrack::Datagram::kRangesMax) continue;
    ASSERT_EQ(reassemble(f, pass(balancer, fragments, 0, 1)), make_frame(translated(spec, f, true)))
        << id;
  }
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Its first fragment has the ports, and needs no place.
TEST_P(FragmentLimits, without_room_for_one_part_more_begin_all_the_same) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  for (size_t i = 1; i <= 8; ++i) {
    EXPECT_TRUE(balancer.send({fragment_of(f, whole, 16 * i, 16 * i + 8, 1)}).is_consumed);
  }
  EXPECT_EQ(balancer.send({fragment_of(f, whole, 144, 152, 1)}).cause,
            DropCause::kFragmentTableFull);
  balancer.originated.clear();
  EXPECT_EQ(balancer.send({fragment_of(f, whole, 0, 8, 1)}).cause, std::nullopt);
  EXPECT_EQ(balancer.originated.size(), 8U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Otherwise an identification that is used again within seconds, as IPv4's 16 bits make a busy
// sender do, would be taken for an overlap.
TEST_P(FragmentLimits, of_a_whole_datagram_leave_nothing_behind) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  for (size_t i = 0; i < 10'000; ++i) {
    const auto id = static_cast<uint16_t>(i % 500);
    const bool is_first_early = i % 2 == 0;
    for (const size_t begin : {is_first_early ? 0U : 400U, is_first_early ? 400U : 0U}) {
      const Fate fate = balancer.send({fragment_of(
          f, whole, begin, begin == 0 ? 400U : whole.size() - 14 - f.ip_header_bytes, id)});
      ASSERT_EQ(fate.cause, std::nullopt) << i;
    }
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.fragments.counters.followed, 5'000U);
  EXPECT_EQ(report.fragments.counters.released, 5'000U);
  EXPECT_EQ(report.fragments.waiting, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// Time may jump further than timers reach.
TEST_P(FragmentLimits, survive_jumps_of_time) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  for (const uint64_t jump : {1'023U, 1'024U, 64'512U, 65'536U, 1'000'000U}) {
    EXPECT_TRUE(balancer.send({fragment_of(f, whole, 400, 800, 1)}).is_consumed);
    balancer.now.count += jump;
  }
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

}  // namespace
}  // namespace roost::lb

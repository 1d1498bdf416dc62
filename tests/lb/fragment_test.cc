// Fragments through the load balancer: in any order, both ways, put together again by their
// receiver; and those that only an attacker sends.
#include <gtest/gtest.h>

#include <random>

#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

class Fragments : public testing::TestWithParam<FragmentFamily> {};

INSTANTIATE_TEST_SUITE_P(both, Fragments, testing::Values(kFragments4, kFragments6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(Fragments, in_any_order_both_ways_are_the_translated_datagram) {
  const FragmentFamily& f = GetParam();
  std::mt19937_64 random(kSeed);
  TestBalancer balancer;
  for (uint16_t id = 1; id <= 500; ++id) {
    for (const bool is_query : {true, false}) {
      const size_t bytes = 20 + random() % 3'000;
      const PacketSpec spec = is_query ? query(f, bytes) : answer(f, bytes);
      std::vector<Bytes> frames = fragments_of(f, spec, id, random);
      if (random() % 2 == 0) std::ranges::shuffle(frames, random);
      const auto left = pass(balancer, frames, is_query ? 0 : 1, 1 + random() % 32);
      ASSERT_EQ(left.size(), frames.size());
      EXPECT_EQ(reassemble(f, left), make_frame(translated(spec, f, is_query))) << id;
    }
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 1U);
  EXPECT_GT(report.fragments.counters.waited, 500U);
  EXPECT_EQ(report.fragments.counters.waited, report.fragments.counters.released);
  EXPECT_EQ(report.fragments.dropped, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// What a router says of a fragment without ports names no connection, and is no attack: the first
// fragment of the same datagram did not fit either.
TEST_P(Fragments, without_ports_that_an_error_is_about_name_no_connection) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  ASSERT_EQ(balancer.send_from_client(query(f, 100)).cause, std::nullopt);
  const Bytes whole = make_frame(answer(f, 3'000));
  ASSERT_EQ(balancer.send({fragment_of(f, whole, 0, 1'400, 1), 1}).cause, std::nullopt);
  const Fate later = balancer.send({fragment_of(f, whole, 1'400, 2'800, 1), 1});
  ASSERT_EQ(later.cause, std::nullopt);
  const IcmpSpec too_big = {.source = f.is_ipv6() ? "2001:db8:1::99" : "192.0.2.11",
                            .destination = f.virtual_address,
                            .type = static_cast<uint8_t>(f.is_ipv6() ? 2 : 3),
                            .code = static_cast<uint8_t>(f.is_ipv6() ? 0 : 4),
                            .rest = 1'280};
  EXPECT_EQ(balancer.send({make_icmp_error(too_big, later.frame, 200)}).cause,
            DropCause::kIcmpNoFlow);
}

TEST_P(Fragments, that_overlap_pass_no_more) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  const auto cause = [&](size_t begin, size_t end, uint16_t id) {
    return balancer.send({fragment_of(f, whole, begin, end, id)}).cause;
  };
  EXPECT_EQ(cause(0, 400, 1), std::nullopt);
  EXPECT_EQ(cause(400, 800, 1), std::nullopt);
  EXPECT_EQ(cause(400, 800, 1), DropCause::kFragmentOverlap) << "the network repeated it";
  EXPECT_EQ(cause(800, 1'008, 1), std::nullopt) << "which is harmless";
  EXPECT_EQ(cause(0, 400, 2), std::nullopt);
  EXPECT_EQ(cause(392, 800, 2), DropCause::kFragmentOverlap);
  EXPECT_EQ(cause(400, 1'008, 2), DropCause::kFragmentOverlap) << "RFC 5722: none of it";
  EXPECT_EQ(cause(0, 400, 3), std::nullopt);
  EXPECT_EQ(cause(800, 1'008, 3), std::nullopt);
  const Bytes longer = make_frame(query(f, 2'000));
  EXPECT_EQ(balancer.send({fragment_of(f, longer, 1'200, 1'600, 3)}).cause,
            DropCause::kFragmentOverlap)
      << "behind the end";
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Its backend has not been solicited yet: the first fragment waits for its MAC, and the others with
// it.
TEST_P(Fragments, wait_for_their_neighbour_too) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer(test_config(
      "[[neighbour]]\naddress = \"" + f.backend + "\"\nmac = \"02:00:00:00:02:11\"\n", ""));
  const Bytes whole = make_frame(query(f, 1'000));
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 400, 800, 1)}).is_consumed);
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 0, 400, 1)}).is_consumed);
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 800, 1'008, 1)}).is_consumed);
  const Report report = balancer.report();
  EXPECT_EQ(report.fragments.counters.released, 1U);
  EXPECT_EQ(report.fragments.dropped, 0U);
  EXPECT_EQ(report.neighbours.waiting, 3U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST_P(Fragments, of_a_datagram_that_nobody_wants_are_nobodys) {
  const FragmentFamily& f = GetParam();
  TestBalancer balancer;
  PacketSpec spec = query(f, 1'000);
  spec.destination_port = 5'353;
  const Bytes whole = make_frame(spec);
  EXPECT_EQ(balancer.send({fragment_of(f, whole, 0, 400, 1)}).cause, drop_cause::kNoService);
  EXPECT_EQ(balancer.send({fragment_of(f, whole, 400, 1'008, 1)}).cause, drop_cause::kNoService);
  EXPECT_EQ(balancer.report().flows.created, 0U);
}

}  // namespace
}  // namespace roost::lb

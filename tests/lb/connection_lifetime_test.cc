// Connections as packets pass: what becomes of them by TCP's flags and by silence.
#include <gtest/gtest.h>

#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;

PacketSpec reply_to(const Fate& request) {
  return {.destination_mac = "02:00:00:00:00:02",
          .source = destination_of(request),
          .destination = "192.0.2.10",
          .source_port = 8080,
          .destination_port = 40'000};
}

// Whether the connection that begins with the given packets is still there after a silence.
struct Silence {
  std::vector<uint8_t> client_flags;   // packets of the client, in order
  std::vector<uint8_t> backend_flags;  // then those of the backend
  uint64_t timeout;
  bool is_closed = false;
};

TEST(timeouts, a_connection_lives_as_long_as_its_state_says_and_no_tick_longer) {
  const std::vector<Silence> silences = {{{kSyn}, {}, 60},
                                         {{kSyn}, {kSyn | kAck}, 60},
                                         {{kSyn, kAck}, {}, 60},
                                         {{kAck}, {}, 60},
                                         {{kAck}, {kAck}, 900},
                                         {{kSyn, kAck, kFin}, {}, 60},
                                         {{kAck}, {kFin}, 120},
                                         {{kAck, kFin}, {kFin}, 10, true},
                                         {{kAck}, {kRst}, 10, true},
                                         {{kAck, kRst}, {}, 10, true},
                                         {{kAck}, {kAck, kRst}, 10, true},
                                         {{kAck}, {kAck, kRst, kAck}, 10, true}};
  for (const Silence& silence : silences) {
    for (const uint64_t excess : {0U, 1U}) {
      TestBalancer balancer;
      balancer.now = {1'000};
      Fate fate;
      for (const uint8_t flags : silence.client_flags) {
        fate = balancer.send_from_client({.tcp_flags = flags});
        ASSERT_EQ(fate.cause, std::nullopt);
      }
      PacketSpec reply = reply_to(fate);
      for (const uint8_t flags : silence.backend_flags) {
        reply.tcp_flags = flags;
        ASSERT_EQ(balancer.send_from_backend(reply).cause, std::nullopt);
      }
      balancer.now.count += silence.timeout + excess;
      reply.tcp_flags = kSyn | kAck;  // no connection begins with that
      const Fate last = balancer.send_from_backend(reply);
      EXPECT_EQ(last.cause, excess == 0 ? std::nullopt : std::optional(DropCause::kNoFlow))
          << "timeout " << silence.timeout;
      const Report report = balancer.report();
      EXPECT_EQ(report.live, excess == 0 ? 1U : 0U);
      EXPECT_EQ(report.flows.ended, excess == 1 && silence.is_closed ? 1U : 0U);
      EXPECT_EQ(report.flows.expired, excess == 1 && !silence.is_closed ? 1U : 0U);
    }
  }
}

// However often its client speaks, and whatever it says.
TEST(timeouts, until_it_is_assured_a_connection_lasts_as_long_as_a_syn) {
  for (const std::vector<uint8_t>& said :
       {std::vector<uint8_t>{kSyn}, {kSyn, kAck}, {kAck}, {kAck, kFin}, {kFin}, {kSyn, kFin}}) {
    TestBalancer balancer;
    balancer.now = {1'000};
    const Fate first = balancer.send_from_client({.tcp_flags = said.front()});
    for (size_t i = 0; i < 60; ++i) {
      ++balancer.now.count;
      const uint8_t flags = said[i % said.size()];
      ASSERT_EQ(balancer.send_from_client({.tcp_flags = flags}).cause, std::nullopt);
    }
    EXPECT_EQ(balancer.report().flows.created, 1U);
    ++balancer.now.count;
    balancer.idle();
    EXPECT_EQ(balancer.report().live, 0U);
    EXPECT_EQ(balancer.report().flows.expired, 1U);
    EXPECT_FALSE(first.cause);
  }
}

// Nor does a stranger's FIN cut it short, where closing connections are given less time than that.
TEST(timeouts, until_it_is_assured_a_connection_is_not_shortened_by_a_fin) {
  TestBalancer balancer(test_config() + "[timeouts]\ntcp_closing = 5\n");
  balancer.now = {1'000};
  PacketSpec reply = reply_to(balancer.send_from_client({.tcp_flags = kAck}));
  ++balancer.now.count;
  ASSERT_EQ(balancer.send_from_client({.tcp_flags = kFin}).cause, std::nullopt);
  balancer.now.count += 59;
  reply.tcp_flags = kAck;
  EXPECT_EQ(balancer.send_from_backend(reply).cause, std::nullopt);
  EXPECT_EQ(balancer.report().flows.expired, 0U);
}

TEST(timeouts, the_same_ports_used_again_after_close_are_another_connection) {
  TestBalancer balancer;
  balancer.send_from_client({.tcp_flags = kAck});
  balancer.send_from_client({.tcp_flags = kRst});
  EXPECT_EQ(balancer.send_from_client({.tcp_flags = kSyn}).cause, std::nullopt);
  Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 2U);
  EXPECT_EQ(report.flows.ended, 1U);
  EXPECT_EQ(report.live, 1U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST(timeouts, nobody_comes_back_to_life_however_far_time_jumps) {
  for (const uint64_t jump : {1'024ULL, 64'512ULL, 64'513ULL, 65'000ULL, 65'536ULL, 65'537ULL,
                              66'000ULL, 131'072ULL, 1'000'000'000'000ULL}) {
    SCOPED_TRACE(jump);
    TestBalancer balancer(test_config() + "[timeouts]\ntcp_established = 1023\n");  // the longest
    balancer.now = {500};
    PacketSpec reply = reply_to(balancer.send_from_client({.tcp_flags = kAck}));
    reply.tcp_flags = kAck;
    EXPECT_EQ(balancer.send_from_backend(reply).cause, std::nullopt);
    balancer.now.count += jump;
    reply.tcp_flags = kSyn | kAck;
    EXPECT_EQ(balancer.send_from_backend(reply).cause, DropCause::kNoFlow);
    const Report report = balancer.report();
    EXPECT_EQ(report.flows.expired, 1U);
    EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  }
}

TEST(timeouts, an_idle_balancer_gives_expired_connections_back_by_itself) {
  TestBalancer balancer;
  for (uint16_t port = 1; port <= 1'000; ++port) balancer.send_from_client({.source_port = port});
  for (int tick = 0; tick < 61 + 256; ++tick) {
    ++balancer.now.count;
    balancer.idle();
  }
  EXPECT_EQ(balancer.state().tracker().counts().expired, 1'000U) << "without a lookup";
}

}  // namespace
}  // namespace roost::lb

// ICMP errors and the load balancer: those of others about its flows, byte by byte, and its own.
#include <gtest/gtest.h>

#include <functional>

#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_balancer.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

struct Family {
  std::string client, router, virtual_address, backend;
  uint8_t unreachable, time_exceeded;
  size_t least_bytes;  // of an embedded packet: its IP header and 8 bytes
};
const Family kIpv4 = {"192.0.2.10", "192.0.2.11", "198.51.100.53", "10.0.0.11", 3, 11, 28};
const Family kIpv6 = {
    "2001:db8:1::10", "2001:db8:1::99", "2001:db8:ffff::53", "2001:db8:2::11", 1, 3, 48};

PacketSpec query_of(const Family& f) { return udp(f.client, 40'000, f.virtual_address, 53); }
PacketSpec answer_of(const Family& f) {
  PacketSpec spec = udp(f.backend, 53, f.client, 40'000);
  spec.destination_mac = "02:00:00:00:00:02";
  spec.source_mac = "02:00:00:00:02:11";
  return spec;
}

// A hop behind the balancer has one less to live of each.
PacketSpec one_hop_on(PacketSpec spec) {
  --spec.ttl;
  return spec;
}

// An error of a router on the clients' side about an answer that the balancer sent to the client.
IcmpSpec from_clients_side(const Family& f) {
  return {.source = f.router, .destination = f.virtual_address, .type = f.unreachable};
}

// The same as the backend must get it.
IcmpSpec towards_backend(const Family& f) {
  IcmpSpec spec = from_clients_side(f);
  spec.source_mac = "02:00:00:00:00:02";
  spec.destination_mac = "02:00:00:00:02:11";
  spec.destination = f.backend;
  spec.ttl = 63;
  return spec;
}

// An error of the backend itself about a query that the balancer sent to it.
IcmpSpec from_backends_side(const Family& f) {
  return {.source_mac = "02:00:00:00:02:11",
          .destination_mac = "02:00:00:00:00:02",
          .source = f.backend,
          .destination = f.client,
          .type = f.unreachable,
          .code = 4};
}

IcmpSpec towards_client(const Family& f) {
  IcmpSpec spec = from_backends_side(f);
  spec.source_mac = "02:00:00:00:00:01";
  spec.destination_mac = "02:00:00:00:01:10";
  spec.source = f.virtual_address;
  spec.ttl = 63;
  return spec;
}

class IcmpErrors : public testing::TestWithParam<Family> {};

INSTANTIATE_TEST_SUITE_P(both, IcmpErrors, testing::Values(kIpv4, kIpv6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(IcmpErrors, from_the_clients_side_reach_the_backend_about_its_own_packet) {
  const Family& f = GetParam();
  TestBalancer balancer;
  ASSERT_EQ(balancer.send_from_client(query_of(f)).cause, std::nullopt);
  const Fate answer = balancer.send_from_backend(answer_of(f));
  ASSERT_EQ(answer.cause, std::nullopt);
  for (const size_t bytes : {f.least_bytes, f.least_bytes + 3, size_t{1'000}}) {
    const Fate fate =
        balancer.send({make_icmp_error(from_clients_side(f), answer.frame, bytes), 0, 128, {}});
    ASSERT_EQ(fate.cause, std::nullopt);
    EXPECT_EQ(fate.out_port, 1);
    const Bytes about = make_frame(one_hop_on(answer_of(f)));
    EXPECT_EQ(fate.frame, make_icmp_error(towards_backend(f), about, bytes)) << bytes;
  }
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// What a backend got, only the backends' side can tell of.
TEST_P(IcmpErrors, of_the_backends_side_do_not_come_from_the_clients) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Fate query = balancer.send_from_client(query_of(f));
  IcmpSpec forged = from_backends_side(f);
  forged.destination_mac = "02:00:00:00:00:01";
  EXPECT_EQ(balancer.send({make_icmp_error(forged, query.frame, 1'000), 0, 128, {}}).cause,
            drop_cause::kWrongSide);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(IcmpErrors, from_the_backends_side_reach_the_client_from_the_virtual_address) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Fate query = balancer.send_from_client(query_of(f));
  ASSERT_EQ(query.cause, std::nullopt);
  for (const size_t bytes : {f.least_bytes, f.least_bytes + 3, size_t{1'000}}) {
    const Fate fate =
        balancer.send({make_icmp_error(from_backends_side(f), query.frame, bytes), 1, 128, {}});
    ASSERT_EQ(fate.cause, std::nullopt);
    EXPECT_EQ(fate.out_port, 0);
    const Bytes about = make_frame(one_hop_on(query_of(f)));
    EXPECT_EQ(fate.frame, make_icmp_error(towards_client(f), about, bytes)) << bytes;
  }
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(IcmpErrors, find_the_connection_that_their_batch_has_made) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Bytes answer = make_frame(one_hop_on(udp(f.virtual_address, 53, f.client, 40'000)));
  const std::vector<Arrival> arrivals = {
      {make_icmp_error(from_clients_side(f), answer, f.least_bytes)}, {make_frame(query_of(f))}};
  const std::vector<Fate> fates = balancer.send_batch(arrivals);
  EXPECT_EQ(fates[0].cause, std::nullopt);
  EXPECT_EQ(fates[1].cause, std::nullopt);
}

TEST_P(IcmpErrors, do_not_keep_a_connection_alive) {
  const Family& f = GetParam();
  TestBalancer balancer;
  ASSERT_EQ(balancer.send_from_client(query_of(f)).cause, std::nullopt);
  const Fate answer = balancer.send_from_backend(answer_of(f));
  const Bytes error = make_icmp_error(from_clients_side(f), answer.frame, 100);
  balancer.now.count += 50;
  EXPECT_EQ(balancer.send({error}).cause, std::nullopt);
  balancer.now.count += 12;
  EXPECT_EQ(balancer.send({error}).cause, DropCause::kIcmpNoFlow);
}

TEST_P(IcmpErrors, of_nobody_are_dropped_by_cause) {
  const Family& f = GetParam();
  TestBalancer balancer;
  ASSERT_EQ(balancer.send_from_client(query_of(f)).cause, std::nullopt);
  const Fate answer = balancer.send_from_backend(answer_of(f));
  const auto cause_after = [&](const std::function<void(IcmpSpec&)>& change) {
    IcmpSpec spec = from_clients_side(f);
    change(spec);
    return balancer.send({make_icmp_error(spec, answer.frame, 100)}).cause;
  };
  EXPECT_EQ(cause_after([](IcmpSpec&) {}), std::nullopt);
  EXPECT_EQ(cause_after([](IcmpSpec& spec) { spec.ttl = 1; }), DropCause::kTtlExpired);
  EXPECT_EQ(cause_after([&](IcmpSpec& spec) { spec.destination = f.backend; }), DropCause::kBadIcmp)
      << "the virtual address sent the packet, not the backend";
  EXPECT_EQ(cause_after([&](IcmpSpec& spec) { spec.source = f.virtual_address; }),
            DropCause::kMartian);
  EXPECT_EQ(cause_after([](IcmpSpec& spec) { spec.type = 200; }), DropCause::kUnsupportedProtocol);

  Bytes damaged = make_icmp_error(from_clients_side(f), answer.frame, 100);
  damaged.back() ^= 1;
  EXPECT_EQ(balancer.send({damaged}).cause, DropCause::kBadIcmp);
  const Bytes stranger = make_frame(udp(f.virtual_address, 53, f.client, 40'001));
  EXPECT_EQ(balancer.send({make_icmp_error(from_clients_side(f), stranger, 100)}).cause,
            DropCause::kIcmpNoFlow);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// The balancer's own.

IcmpSpec own(const Family& f, uint8_t type, uint8_t code, uint32_t rest) {
  const bool is_ipv6 = f.client.find(':') != std::string::npos;
  return {.source_mac = "02:00:00:00:00:01",
          .destination_mac = "02:00:00:00:01:10",
          .source = is_ipv6 ? "2001:db8:1::1" : "192.0.2.1",
          .destination = f.client,
          .type = type,
          .code = code,
          .rest = rest,
          .type_of_service = 0xc0,
          .may_be_cut = false};
}

TEST_P(IcmpErrors, tell_of_packets_without_hops) {
  const Family& f = GetParam();
  TestBalancer balancer;
  PacketSpec spec = query_of(f);
  spec.ttl = 1;
  EXPECT_EQ(balancer.send_from_client(spec).cause, DropCause::kTtlExpired);
  ASSERT_EQ(balancer.originated.size(), 1U);
  EXPECT_EQ(balancer.originated[0].out_port, 0);
  EXPECT_EQ(balancer.originated[0].frame,
            make_icmp_error(own(f, f.time_exceeded, 0, 0), make_frame(spec), 1'000));
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(IcmpErrors, tell_of_packets_that_are_too_big) {
  const Family& f = GetParam();
  const bool is_ipv6 = f.client.find(':') != std::string::npos;
  TestBalancer balancer(
      test_config("mac = \"02:00:00:00:00:02\"", "mac = \"02:00:00:00:00:02\"\nmtu = 1_400"));
  PacketSpec spec = query_of(f);
  spec.payload.assign(1'400 - f.least_bytes, 'x');
  EXPECT_EQ(balancer.send_from_client(spec).cause, std::nullopt);
  spec.payload += 'x';
  EXPECT_EQ(balancer.send_from_client(spec).cause, DropCause::kTooBig);
  ASSERT_EQ(balancer.originated.size(), 1U);
  const IcmpSpec expected = is_ipv6 ? own(f, 2, 0, 1'400) : own(f, f.unreachable, 4, 1'400);
  EXPECT_EQ(balancer.originated[0].frame,
            make_icmp_error(expected, make_frame(spec), is_ipv6 ? 1'232 : 548));
  EXPECT_EQ(balancer.report().icmp_errors.too_big, 1U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(IcmpErrors, are_not_sent_without_end) {
  const Family& f = GetParam();
  TestBalancer balancer(test_config("mac = \"02:00:00:00:00:01\"\n",
                                    "mac = \"02:00:00:00:00:01\"\n"
                                    "default_neighbour_mac = \"02:00:00:00:01:01\"\n"));
  PacketSpec spec = query_of(f);
  spec.ttl = 1;
  const auto send_as = [&](const std::string& source) {
    spec.source = source;
    balancer.send_from_client(spec);
  };
  const auto host = [&](int number) {
    return f.client.find(':') != std::string::npos
               ? "2001:db8:7:" + std::to_string(number) + "::1"
               : "203.0." + std::to_string(number / 200) + "." + std::to_string(number % 200 + 1);
  };
  for (int i = 0; i < 1'500; ++i) send_as(f.client);
  EXPECT_EQ(balancer.originated.size(), 50U) << "to one";
  EXPECT_EQ(balancer.report().icmp_errors.limited, 1'450U);
  // One that causes many takes nothing from the others.
  for (int i = 0; i < 100; ++i) send_as(host(i));
  EXPECT_EQ(balancer.originated.size(), 150U);
  for (int i = 100; i < 2'000; ++i) send_as(host(i));
  EXPECT_EQ(balancer.originated.size(), 1'000U) << "to all";
  ++balancer.now.count;
  send_as(f.client);
  EXPECT_EQ(balancer.originated.size(), 1'001U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Addresses of one network of 64 bits are one destination: their owner could take any of them.
TEST(icmp_budget, is_a_networks_in_ipv6) {
  TestBalancer balancer;
  PacketSpec spec = query_of(kIpv6);
  spec.ttl = 1;
  for (int i = 1; i <= 500; ++i) {
    spec.source = "2001:db8:1::" + std::to_string(i + 1'000);
    balancer.send_from_client(spec);
  }
  EXPECT_EQ(balancer.originated.size(), 50U);
}

// In ticks of a millisecond: fifty at once, and one more every twenty ticks.
TEST(icmp_budget, is_filled_by_time_and_not_by_ticks) {
  TestBalancer balancer(test_config("tick_seconds = 1.0", "tick_seconds = 0.001") +
                        "[timeouts]\ntcp_syn = 1\ntcp_established = 1\ntcp_closing = 1\n"
                        "tcp_closed = 1\nudp = 1\n");
  PacketSpec spec = query_of(kIpv4);
  spec.ttl = 1;
  for (int tick = 0; tick < 1'000; ++tick) {
    ++balancer.now.count;
    for (int i = 0; i < 10; ++i) balancer.send_from_client(spec);
  }
  EXPECT_NEAR(static_cast<double>(balancer.originated.size()), 100, 1);
  // A pause of a fifth of a second is worth ten.
  balancer.originated.clear();
  balancer.now.count += 200;
  for (int i = 0; i < 100; ++i) balancer.send_from_client(spec);
  EXPECT_NEAR(static_cast<double>(balancer.originated.size()), 10, 1);
}

// As a router does (RFC 1812 section 4.2.2.7): the packet is the balancer's, and its pieces too.
TEST(too_big, what_may_be_cut_leaves_in_pieces) {
  TestBalancer balancer(
      test_config("mac = \"02:00:00:00:00:02\"", "mac = \"02:00:00:00:00:02\"\nmtu = 1_280"));
  PacketSpec spec = query_of(kIpv4);
  spec.may_be_cut = true;
  spec.payload.assign(1'400, 'x');
  EXPECT_TRUE(balancer.send_from_client(spec).is_consumed);
  ASSERT_EQ(balancer.originated.size(), 2U);
  PacketSpec translated = one_hop_on(spec);
  translated.destination = kIpv4.backend;
  const Bytes whole = make_frame(translated);
  Bytes carried;
  for (const Fate& piece : balancer.originated) {
    EXPECT_EQ(piece.out_port, 1);
    EXPECT_LE(piece.frame.size(), 14U + 1'280);
    carried.insert(carried.end(), piece.frame.begin() + 34, piece.frame.end());
  }
  EXPECT_EQ(carried, Bytes(whole.begin() + 34, whole.end())) << "checksum and ports included";
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

}  // namespace
}  // namespace roost::lb

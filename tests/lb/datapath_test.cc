// What a forwarded packet looks like, in both directions, and that lanes of a batch act in order.
#include "apps/lb/datapath/datapath.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "tests/base/step_count.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kSyn;

// What the balancer makes of a client's packet for a backend.
PacketSpec towards_backend(PacketSpec spec, const std::string& backend, uint16_t port) {
  spec.source_mac = "02:00:00:00:00:02";
  spec.destination_mac = "02:00:00:00:02:" + backend.substr(backend.size() - 2);
  spec.destination = backend;
  spec.destination_port = port;
  --spec.ttl;
  return spec;
}

// What that backend answers.
PacketSpec answer_to(const PacketSpec& request) {
  PacketSpec answer = request;
  std::swap(answer.source_mac, answer.destination_mac);
  std::swap(answer.source, answer.destination);
  std::swap(answer.source_port, answer.destination_port);
  answer.tcp_flags = kSyn | kAck;
  answer.ttl = 63;
  answer.payload = "an answer";
  return answer;
}

// What the balancer makes of a backend's answer to a request that the client sent so.
PacketSpec towards_client(PacketSpec answer, const PacketSpec& request) {
  answer.source_mac = request.destination_mac;
  answer.destination_mac = request.source_mac;
  answer.source = request.destination;
  answer.source_port = request.destination_port;
  --answer.ttl;
  return answer;
}

struct Protocol {
  std::string name;
  PacketSpec request;
  uint16_t backend_port;
};

std::vector<Protocol> protocols() {
  const PacketSpec tcp4;
  PacketSpec tcp6 = tcp4;
  tcp6.source = "2001:db8:1::10";
  tcp6.destination = "2001:db8:ffff::80";
  PacketSpec udp4 = tcp4;
  udp4.protocol = net::IpProtocol::kUdp;
  udp4.destination = "198.51.100.53";
  udp4.destination_port = 53;
  PacketSpec udp4_without_checksum = udp4;
  udp4_without_checksum.has_udp_checksum = false;
  PacketSpec udp6 = udp4;
  udp6.source = tcp6.source;
  udp6.destination = "2001:db8:ffff::53";
  return {{"tcp4", tcp4, 8080},
          {"tcp6", tcp6, 8080},
          {"udp4", udp4, 53},
          {"udp4 without checksum", udp4_without_checksum, 53},
          {"udp6", udp6, 53}};
}

TEST(datapath, translates_requests_and_answers_of_every_protocol) {
  for (const Protocol& protocol : protocols()) {
    SCOPED_TRACE(protocol.name);
    TestBalancer balancer;
    for (uint16_t port = 40'000; port < 40'064; ++port) {
      PacketSpec request = protocol.request;
      request.source_port = port;
      const Fate out = balancer.send_from_client(request);
      ASSERT_EQ(out.cause, std::nullopt);
      EXPECT_EQ(out.out_port, 1);
      const PacketSpec forwarded =
          towards_backend(request, destination_of(out), protocol.backend_port);
      EXPECT_EQ(out.frame, make_frame(forwarded));

      const PacketSpec answer = answer_to(forwarded);
      const Fate back = balancer.send_from_backend(answer);
      ASSERT_EQ(back.cause, std::nullopt);
      EXPECT_EQ(back.out_port, 0);
      EXPECT_EQ(back.frame, make_frame(towards_client(answer, request)));
    }
    EXPECT_EQ(balancer.report().flows.created, 64U);
    EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  }
}

TEST(datapath, every_udp_checksum_stays_right_the_zero_one_included) {
  TestBalancer balancer;
  PacketSpec request = protocols()[2].request;
  constexpr auto kStep = static_cast<unsigned>(65'536 / step_count(65'536, 8));
  for (unsigned payload = 0; payload < 65'536; payload += kStep) {
    request.payload = {static_cast<char>(payload >> 8), static_cast<char>(payload & 0xff)};
    const Fate out = balancer.send_from_client(request);
    ASSERT_EQ(out.frame, make_frame(towards_backend(request, "10.0.0.11", 53))) << payload;
  }
}

TEST(datapath, keeps_a_connection_on_its_backend) {
  TestBalancer balancer;
  const std::string backend = destination_of(balancer.send_from_client({}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(destination_of(balancer.send_from_client({.tcp_flags = kAck})), backend);
  }
  EXPECT_EQ(balancer.report().flows.created, 1U);
}

TEST(datapath, picks_up_a_connection_in_its_middle) {
  TestBalancer balancer;
  EXPECT_EQ(balancer.send_from_client({.tcp_flags = kAck}).cause, std::nullopt);
  EXPECT_EQ(balancer.report().flows.created, 1U);
}

TEST(datapath, pops_and_pushes_vlan_tags) {
  std::string toml =
      test_config("mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nvlan = [100]");
  toml.replace(toml.find("mac = \"02:00:00:00:00:02\""), 0, "vlan = [200, 7]\n");
  TestBalancer balancer(toml);
  PacketSpec request;
  request.vlan = {100};
  const Fate out = balancer.send_from_client(request);
  ASSERT_EQ(out.cause, std::nullopt);
  const std::string last = std::to_string(out.frame[8 + 33]);  // of the backend's address
  PacketSpec forwarded = towards_backend(request, "10.0.0." + last, 8080);
  forwarded.vlan = {200, 7};
  EXPECT_EQ(out.frame, make_frame(forwarded));
  const PacketSpec answer = answer_to(forwarded);
  const Fate back = balancer.send_from_backend(answer);
  PacketSpec expected = towards_client(answer, request);
  expected.vlan = {100};
  EXPECT_EQ(back.frame, make_frame(expected));
}

TEST(datapath, sends_to_unknown_addresses_by_the_default_neighbour) {
  TestBalancer balancer(test_config("mac = \"02:00:00:00:00:01\"",
                                    "mac = \"02:00:00:00:00:01\"\n"
                                    "default_neighbour_mac = \"02:00:00:00:00:fe\""));
  PacketSpec request;
  request.source = "203.0.113.77";
  const Fate out = balancer.send_from_client(request);
  const PacketSpec forwarded = towards_backend(request, destination_of(out), 8080);
  const PacketSpec answer = answer_to(forwarded);
  PacketSpec expected = towards_client(answer, request);
  expected.destination_mac = "02:00:00:00:00:fe";
  EXPECT_EQ(balancer.send_from_backend(answer).frame, make_frame(expected));
}

TEST(batch, a_syn_and_its_retransmission_make_one_connection) {
  TestBalancer balancer;
  const std::vector<Arrival> arrivals(5, {make_frame({})});
  const std::vector<Fate> fates = balancer.send_batch(arrivals);
  for (const Fate& fate : fates) EXPECT_EQ(fate, fates.front());
  EXPECT_EQ(fates.front().cause, std::nullopt);
  EXPECT_EQ(balancer.report().flows.created, 1U);
}

TEST(batch, a_request_and_its_answer_in_one_batch_both_pass) {
  TestBalancer twin;
  const PacketSpec request;
  const PacketSpec forwarded =
      towards_backend(request, destination_of(twin.send_from_client(request)), 8080);
  const PacketSpec answer = answer_to(forwarded);
  TestBalancer balancer;
  const std::vector<Arrival> arrivals = {
      {make_frame(answer), 1}, {make_frame(request), 0}, {make_frame(answer), 1}};
  const std::vector<Fate> fates = balancer.send_batch(arrivals);
  EXPECT_EQ(fates[0].cause, DropCause::kNoFlow) << "it came before the request";
  EXPECT_EQ(fates[1].frame, make_frame(forwarded));
  EXPECT_EQ(fates[2].frame, make_frame(towards_client(answer, request)));
}

TEST(batch, decides_as_packets_one_by_one_would_be) {
  const uint32_t seed = 20'261'121;
  std::mt19937 random(seed);
  SCOPED_TRACE(seed);
  TestBalancer in_batches;
  TestBalancer one_by_one;
  for (int round = 0; round < 400; ++round) {
    std::vector<Arrival> arrivals;
    for (size_t i = 0; i < 1 + random() % net::kBatchLanesMax; ++i) {
      PacketSpec spec = protocols()[random() % 5].request;
      spec.source_port = static_cast<uint16_t>(1 + random() % 20);
      spec.tcp_flags = static_cast<uint8_t>(random() % 32);
      if (random() % 2 == 0 && spec.protocol == net::IpProtocol::kUdp) {
        const bool is_ipv6 = spec.source.find(':') != std::string::npos;
        spec = answer_to(towards_backend(spec, is_ipv6 ? "2001:db8:2::11" : "10.0.0.11", 53));
        arrivals.push_back({make_frame(spec), 1});
      } else {
        arrivals.push_back({make_frame(spec), 0});
      }
    }
    const std::vector<Fate> fates = in_batches.send_batch(arrivals);
    for (size_t i = 0; i < arrivals.size(); ++i) {
      ASSERT_EQ(fates[i], one_by_one.send(arrivals[i])) << "round " << round << " lane " << i;
    }
    in_batches.now.count += 3;
    one_by_one.now.count += 3;
  }
  EXPECT_EQ(in_batches.report().flows.created, one_by_one.report().flows.created);
}

}  // namespace
}  // namespace roost::lb

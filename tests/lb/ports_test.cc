// Services of several ports: whose a port is, what a backend gets, and how answers, ICMP errors and
// fragments find their way back.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/lb/ranged_balancer.h"
#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kSyn;

uint16_t port_at(const Bytes& frame, size_t at) {
  return static_cast<uint16_t>(frame[at] << 8 | frame[at + 1]);
}

class Ranges : public testing::TestWithParam<RangedFamily> {
 protected:
  // A packet to the service's port, and the backend's answer to what came of it.
  PacketSpec to(uint16_t port, uint8_t flags = kSyn, uint16_t client_port = 40'000) const {
    return {.source = family_.client,
            .destination = family_.virtual_address,
            .source_port = client_port,
            .destination_port = port,
            .tcp_flags = flags};
  }
  static PacketSpec answer_to(const Fate& fate, uint8_t flags = kSyn | kAck) {
    const Ends ends = read_ends(fate.frame);
    return {.destination_mac = "02:00:00:00:00:02",
            .source = ends.destination,
            .destination = ends.source,
            .source_port = ends.destination_port,
            .destination_port = ends.source_port,
            .tcp_flags = flags};
  }
  // A connection to this port goes to this port of a backend, and answers come back from the first.
  void expect_way(TestBalancer& balancer, uint16_t port, uint16_t backend_port) {
    SCOPED_TRACE(port);
    for (const uint8_t flags : {kSyn, kAck}) {
      const Fate fate = balancer.send_from_client(to(port, flags));
      ASSERT_EQ(fate.cause, std::nullopt);
      EXPECT_EQ(read_ends(fate.frame).destination_port, backend_port);
      const Fate answer = balancer.send_from_backend(answer_to(fate, flags == kSyn ? 18 : 16));
      ASSERT_EQ(answer.cause, std::nullopt);
      EXPECT_EQ(read_ends(answer.frame),
                (Ends{family_.virtual_address, family_.client, port, 40'000}));
    }
  }

  RangedFamily family_ = GetParam();
};

INSTANTIATE_TEST_SUITE_P(both, Ranges, testing::Values(kRanged4, kRanged6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(Ranges, keep_a_ports_place_on_the_way_there_and_back) {
  TestBalancer balancer(ranged_config(family_, "\"8000-8099\"", 9'000));
  expect_way(balancer, 8'000, 9'000);
  expect_way(balancer, 8'037, 9'037);
  expect_way(balancer, 8'099, 9'099);
  for (const uint16_t port : std::initializer_list<uint16_t>{7'999, 8'100, 80, 9'000}) {
    EXPECT_EQ(balancer.send_from_client(to(port)).cause, drop_cause::kNoService) << port;
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 3U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST_P(Ranges, a_range_may_begin_higher_than_its_backends) {
  TestBalancer balancer(ranged_config(family_, "\"65500-65535\"", 1));
  expect_way(balancer, 65'500, 1);
  expect_way(balancer, 65'535, 36);
}

TEST_P(Ranges, all_ports_stay_what_they_are) {
  TestBalancer balancer(ranged_config(family_, "\"any\"", 0));
  for (const uint16_t port : std::initializer_list<uint16_t>{1, 80, 40'000, 65'535})
    expect_way(balancer, port, port);
  EXPECT_EQ(balancer.send_from_client(to(0)).cause, drop_cause::kNoService);
}

TEST_P(Ranges, by_any_mode) {
  for (const std::string mode : {"fullnat", "l2dsr", "ipip", "gue"}) {
    SCOPED_TRACE(mode);
    std::string toml = ranged_config(family_, "\"8000-8099\"", mode == "fullnat" ? 9'000 : 0);
    toml.replace(toml.find("name = \"ranged\""), 0, "mode = \"" + mode + "\"\n");
    TestBalancer balancer(toml + "[fullnat]\naddresses = [\"10.0.0.100\", \"2001:db8:2::100\"]\n");
    for (const uint16_t port : std::initializer_list<uint16_t>{8'000, 8'099}) {
      const PacketSpec sent = to(port);
      const Fate fate = balancer.send_from_client(sent);
      ASSERT_EQ(fate.cause, std::nullopt);
      if (mode != "fullnat") {
        // The client's packet stands at the end as it was.
        const Bytes whole = make_frame(sent);
        ASSERT_GE(fate.frame.size(), whole.size());
        EXPECT_TRUE(std::equal(whole.end() - 25, whole.end(), fate.frame.end() - 25));
        continue;
      }
      EXPECT_EQ(read_ends(fate.frame).destination_port, port + 1'000);
      const Fate answer = balancer.send_from_backend(answer_to(fate));
      ASSERT_EQ(answer.cause, std::nullopt);
      EXPECT_EQ(read_ends(answer.frame),
                (Ends{family_.virtual_address, family_.client, port, 40'000}));
    }
    EXPECT_EQ(balancer.send_from_client(to(8'100)).cause, drop_cause::kNoService);
    EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  }
}

TEST_P(Ranges, icmp_errors_have_the_ports_that_their_receivers_know) {
  TestBalancer balancer(ranged_config(family_, "\"8000-8099\"", 9'000));
  const Fate fate = balancer.send_from_client(to(8'040));
  ASSERT_EQ(fate.cause, std::nullopt);
  const Fate answer = balancer.send_from_backend(answer_to(fate));
  ASSERT_EQ(answer.cause, std::nullopt);
  const bool is_ipv6 = family_.client.find(':') != std::string::npos;
  const size_t ports_at = is_ipv6 ? 14 + 40 + 8 + 40 : 14 + 20 + 8 + 20;
  IcmpSpec spec = {.source_mac = "02:00:00:00:02:11",
                   .destination_mac = "02:00:00:00:00:02",
                   .source = read_ends(fate.frame).destination,
                   .destination = family_.client,
                   .type = static_cast<uint8_t>(is_ipv6 ? 1 : 3),
                   .code = static_cast<uint8_t>(is_ipv6 ? 4 : 3)};
  const Fate to_client = balancer.send({make_icmp_error(spec, fate.frame, is_ipv6 ? 60 : 28), 1});
  ASSERT_EQ(to_client.cause, std::nullopt);
  EXPECT_EQ(port_at(to_client.frame, ports_at + 2), 8'040);
  spec.source_mac = "02:00:00:00:01:10";
  spec.destination_mac = "02:00:00:00:00:01";
  spec.source = family_.client;
  spec.destination = family_.virtual_address;
  const Fate to_backend = balancer.send({make_icmp_error(spec, answer.frame, is_ipv6 ? 60 : 28)});
  ASSERT_EQ(to_backend.cause, std::nullopt);
  EXPECT_EQ(port_at(to_backend.frame, ports_at), 9'040);
}

TEST_P(Ranges, fragments_follow_their_first_one) {
  const bool is_ipv6 = family_.client.find(':') != std::string::npos;
  const FragmentFamily f{family_.client, family_.virtual_address, family_.backend,
                         is_ipv6 ? size_t{40} : size_t{20}};
  for (const std::string one_packet : {"", "one_packet = true\n"}) {
    std::string toml = ranged_config(family_, "\"8000-8099\"", 9'000, "udp");
    toml.replace(toml.find("name = \"ranged\""), 0, one_packet);
    TestBalancer balancer(toml);
    std::mt19937_64 random(kSeed);
    PacketSpec query = filled(udp(f.client, 40'000, f.virtual_address, 8'040), 2'000);
    PacketSpec answer = filled(udp(f.backend, 9'040, f.client, 40'000), 2'000);
    answer.destination_mac = "02:00:00:00:00:02";
    for (const bool is_query : {true, false}) {
      const PacketSpec& spec = is_query ? query : answer;
      std::vector<Bytes> left;
      for (const Bytes& frame : fragments_of(f, spec, 7, random)) {
        const Fate fate = balancer.send({frame, static_cast<uint16_t>(is_query ? 0 : 1)});
        ASSERT_EQ(fate.cause, std::nullopt);
        left.push_back(fate.frame);
      }
      PacketSpec translated = spec;
      translated.source_mac = is_query ? "02:00:00:00:00:02" : "02:00:00:00:00:01";
      translated.destination_mac = is_query ? "02:00:00:00:02:11" : "02:00:00:00:01:10";
      if (is_query) {
        translated.destination = f.backend;
        translated.destination_port = 9'040;
      } else {
        translated.source = f.virtual_address;
        translated.source_port = 8'040;
      }
      --translated.ttl;
      EXPECT_EQ(reassemble(f, left), make_frame(translated));
    }
    EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  }
}

TEST_P(Ranges, the_most_specific_service_has_a_port) {
  const std::string toml = ranged_config(family_, "\"8000-8099\"", 9'000) +
                           ranged_service(family_, "one", "8_050", 50) +
                           ranged_service(family_, "rest", "\"any\"", 0);
  TestBalancer balancer(toml);
  expect_way(balancer, 8'049, 9'049);
  expect_way(balancer, 8'050, 50);
  expect_way(balancer, 8'051, 9'051);
  expect_way(balancer, 7'999, 7'999);
  expect_way(balancer, 8'100, 8'100);
  PacketSpec datagram = to(8'050);
  datagram.protocol = net::IpProtocol::kUdp;
  EXPECT_EQ(balancer.send_from_client(datagram).cause, drop_cause::kNoService);
}

// What a backend of `nat` sends without a connection is in the name of the port that it has.
TEST_P(Ranges, backends_go_on_with_connections_from_before) {
  const std::string toml = ranged_config(family_, "\"8000-8099\"", 9'000) +
                           ranged_service(family_, "one", "8_050", 50) +
                           ranged_service(family_, "other", "8_200", 9'020);
  TestBalancer balancer(toml);
  const auto from = [&](uint16_t port) {
    return balancer.send_from_backend({.destination_mac = "02:00:00:00:00:02",
                                       .source = family_.backend,
                                       .destination = family_.client,
                                       .source_port = port,
                                       .destination_port = 40'000,
                                       .tcp_flags = kAck});
  };
  EXPECT_EQ(read_ends(from(9'010).frame).source_port, 8'010);
  EXPECT_EQ(read_ends(from(50).frame).source_port, 8'050);
  EXPECT_EQ(from(9'050).cause, DropCause::kNoFlow) << "8050 is the other service's";
  EXPECT_EQ(from(9'020).cause, DropCause::kNoFlow) << "it could be either's";
  EXPECT_EQ(from(8'999).cause, DropCause::kNoFlow);
  EXPECT_EQ(from(9'100).cause, DropCause::kNoFlow);
  // The client's side of what was picked up finds it.
  EXPECT_EQ(read_ends(balancer.send_from_client(to(8'010, kAck)).frame).destination_port, 9'010);
  EXPECT_EQ(balancer.report().flows.created, 2U);
}

TEST_P(Ranges, by_source_a_client_keeps_its_backend_on_all_ports) {
  for (const std::string algorithm : {"source", "maglev"}) {
    std::string toml = ranged_config(family_, "\"any\"", 0);
    toml.replace(toml.find("name = \"ranged\""), 0, "algorithm = \"" + algorithm + "\"\n");
    TestBalancer balancer(toml);
    std::map<std::string, int> backends;
    for (uint16_t port = 1; port <= 100; ++port) {
      ++backends[destination_of(balancer.send_from_client(to(port, kSyn, 1'000 + port)))];
    }
    EXPECT_EQ(backends.size(), algorithm == "source" ? 1U : 2U) << algorithm;
  }
}

TEST_P(Ranges, ports_outside_are_refused_and_those_inside_are_not) {
  TestBalancer balancer(ranged_config(family_, "\"8000-8099\"", 9'000) + "[lb]\nrefuse = true\n");
  EXPECT_EQ(balancer.send_from_client(to(8'099)).cause, std::nullopt);
  EXPECT_EQ(balancer.originated.size(), 0U);
  EXPECT_EQ(balancer.send_from_client(to(8'100)).cause, drop_cause::kNoService);
  EXPECT_EQ(balancer.originated.size(), 1U);
  EXPECT_EQ(balancer.report().resets.sent, 1U);
}

// Services at random over few ports, against a search through all of them.
TEST(ranges, have_the_owner_that_a_search_through_all_services_finds) {
  std::mt19937_64 random(20'261'127);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<PortSpan> services;
    PortLines ones;
    PortLines ranges;
    bool has_all = false;
    for (uint32_t i = 0; i < random() % 12; ++i) {
      const auto first = static_cast<uint16_t>(1 + random() % 40);
      ServicePorts ports{first, static_cast<uint16_t>(first + random() % 12)};
      if (random() % 3 == 0) ports.last = first;
      if (random() % 8 == 0 && !std::exchange(has_all, true)) ports = ServicePorts::all();
      if (ports.kind() == PortsKind::kOne && ones.note(ports, 1) != 0) continue;
      if (ports.kind() == PortsKind::kRange && ranges.note(ports, 1) != 0) continue;
      services.push_back({ports, i});
    }
    PortSpans<net::Ipv4Address> spans;
    for (const PortSpan& span : most_specific(services)) {
      spans.add({}, net::IpProtocol::kTcp, span.ports, span.service);
    }
    spans.seal();
    for (uint32_t port = 0; port <= 60; ++port) {
      const PortSpan* best = nullptr;
      for (const PortSpan& one : services) {
        if (port < one.ports.first || port > one.ports.last) continue;
        if (best == nullptr || one.ports.count() < best->ports.count()) best = &one;
      }
      const auto found = spans.find({}, net::IpProtocol::kTcp, static_cast<uint16_t>(port));
      ASSERT_EQ(found, best == nullptr ? std::nullopt : std::optional(best->service))
          << "port " << port << ", round " << round;
      ASSERT_EQ(spans.find({}, net::IpProtocol::kUdp, static_cast<uint16_t>(port)), std::nullopt);
    }
  }
}

TEST(ranges, that_overlap_in_spans_have_no_certain_owner_there) {
  PortSpans<net::Ipv4Address> spans;
  const net::Ipv4Address address{{10, 0, 0, 1}};
  spans.add(address, net::IpProtocol::kTcp, {10, 19}, 1);
  spans.add(address, net::IpProtocol::kTcp, {15, 29}, 2);
  spans.add(address, net::IpProtocol::kTcp, {30, 65'535}, 3);
  spans.seal();
  const auto owner = [&](uint16_t port) {
    return spans.find(address, net::IpProtocol::kTcp, port);
  };
  EXPECT_EQ(owner(9), std::nullopt);
  EXPECT_EQ(owner(14), 1U);
  EXPECT_EQ(owner(15), PortSpans<net::Ipv4Address>::kAmbiguous);
  EXPECT_EQ(owner(19), PortSpans<net::Ipv4Address>::kAmbiguous);
  EXPECT_EQ(owner(20), 2U);
  EXPECT_EQ(owner(65'535), 3U);
  EXPECT_EQ(spans.find({{10, 0, 0, 2}}, net::IpProtocol::kTcp, 15), std::nullopt);
}

}  // namespace
}  // namespace roost::lb

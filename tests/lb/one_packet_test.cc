// Services whose datagrams are balanced one by one: no connection, and answers, fragments and ICMP
// errors that find their way without.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/lb/consistency.h"
#include "tests/lb/refused_config.h"
#include "tests/lb/reloaded.h"
#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

const std::string kName = "name = \"dns\"\n";
const std::string kBackend = "backends = [{name = \"b1\", address = \"10.0.0.11\"}]";
const std::string kThree =
    "backends = [{name = \"b1\", address = \"10.0.0.11\"}, {name = \"b2\", address = "
    "\"10.0.0.12\"}, {name = \"b3\", address = \"10.0.0.13\"}]";

// Three backends for IPv4's DNS, and both families' are one-packet services.
std::string config_of(const std::string& key = "one_packet = true\n") {
  std::string toml = test_config(kBackend, kThree);
  for (const std::string& name : {kName, std::string("name = \"dns6\"\n")}) {
    toml.replace(toml.find(name), name.size(), name + key);
  }
  return toml;
}

PacketSpec answer_from(const std::string& backend, uint16_t client_port) {
  PacketSpec spec = udp(backend, 53, "192.0.2.10", client_port);
  spec.destination_mac = "02:00:00:00:00:02";
  return spec;
}

void expect_no_connection(TestBalancer& balancer) {
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST(one_packet, questions_are_shared_out_and_make_no_connection) {
  TestBalancer balancer(config_of());
  std::map<std::string, size_t> backends;
  for (uint16_t port = 1; port <= 300; ++port) {
    const Fate fate = balancer.send_from_client(dns_query(port));
    ASSERT_EQ(fate.cause, std::nullopt);
    ++backends[destination_of(fate)];
    EXPECT_EQ(destination_of(balancer.send_from_client(dns_query(port))), destination_of(fate))
        << "by maglev, while weights stay";
  }
  EXPECT_EQ(backends.size(), 3U);
  for (const auto& [backend, count] : backends) EXPECT_GT(count, 60U) << backend;
  expect_no_connection(balancer);
  uint64_t packets = 0;
  const Report report = balancer.report();
  for (const BackendReport& backend : report.services[2].backends) {
    packets += backend.counters.packets;
  }
  EXPECT_EQ(packets, 600U);
}

TEST(one_packet, answers_come_from_the_virtual_address_whoever_asked) {
  TestBalancer balancer(config_of());
  for (const std::string backend : {"10.0.0.11", "10.0.0.12", "10.0.0.13"}) {
    const Fate fate = balancer.send_from_backend(answer_from(backend, 40'000));
    ASSERT_EQ(fate.cause, std::nullopt);
    EXPECT_EQ(read_ends(fate.frame), (Ends{"198.51.100.53", "192.0.2.10", 53, 40'000}));
  }
  // The other family's, byte by byte.
  PacketSpec answer = udp("2001:db8:2::11", 53, "2001:db8:1::10", 40'000);
  answer.destination_mac = "02:00:00:00:00:02";
  PacketSpec translated = answer;
  translated.source = "2001:db8:ffff::53";
  translated.source_mac = "02:00:00:00:00:01";
  translated.destination_mac = "02:00:00:00:01:10";
  --translated.ttl;
  EXPECT_EQ(balancer.send_from_backend(answer).frame, make_frame(translated));
  expect_no_connection(balancer);
}

TEST(one_packet, an_answer_must_come_from_its_backends_side_and_to_a_client) {
  TestBalancer balancer(config_of());
  PacketSpec answer = answer_from("10.0.0.11", 40'000);
  answer.destination_mac = "02:00:00:00:00:01";
  EXPECT_EQ(balancer.send_from_client(answer).cause, drop_cause::kWrongSide);
  answer = answer_from("10.0.0.11", 40'000);
  answer.destination = "192.0.2.1";
  EXPECT_EQ(balancer.send_from_backend(answer).cause, DropCause::kNoFlow);
  PacketSpec query = dns_query();
  query.source = "192.0.2.1";
  EXPECT_EQ(balancer.send_from_client(query).cause, DropCause::kMartian);
  expect_no_connection(balancer);
}

class OnePacketFragments : public testing::TestWithParam<FragmentFamily> {};

INSTANTIATE_TEST_SUITE_P(both, OnePacketFragments, testing::Values(kFragments4, kFragments6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(OnePacketFragments, follow_their_first_one_both_ways) {
  const FragmentFamily& f = GetParam();
  std::mt19937_64 random(kSeed);
  std::string toml = test_config();
  for (const std::string& name : {kName, std::string("name = \"dns6\"\n")}) {
    toml.replace(toml.find(name), name.size(), name + "one_packet = true\n");
  }
  TestBalancer balancer(toml);
  for (uint16_t id = 1; id <= 100; ++id) {
    for (const bool is_query : {true, false}) {
      const PacketSpec spec = is_query ? query(f, 2'000) : answer(f, 2'000);
      std::vector<Bytes> frames = fragments_of(f, spec, id, random);
      if (random() % 2 == 0) std::ranges::shuffle(frames, random);
      const auto left = pass(balancer, frames, is_query ? 0 : 1, 1 + random() % 32);
      ASSERT_EQ(left.size(), frames.size());
      EXPECT_EQ(reassemble(f, left), make_frame(translated(spec, f, is_query))) << id;
    }
  }
  expect_no_connection(balancer);
}

TEST(one_packet, icmp_errors_find_the_backend_and_the_client) {
  TestBalancer balancer(config_of());
  for (uint16_t port = 1; port <= 20; ++port) {
    const Fate query = balancer.send_from_client(dns_query(port));
    const std::string backend = destination_of(query);
    // The backend has nobody at that port.
    const IcmpSpec unreachable = {.source_mac = "02:00:00:00:02:11",
                                  .destination_mac = "02:00:00:00:00:02",
                                  .source = backend,
                                  .destination = "192.0.2.10",
                                  .code = 3};
    const Fate to_client = balancer.send({make_icmp_error(unreachable, query.frame, 28), 1});
    ASSERT_EQ(to_client.cause, std::nullopt);
    IcmpSpec told = unreachable;
    told.source_mac = "02:00:00:00:00:01";
    told.destination_mac = "02:00:00:00:01:10";
    told.source = "198.51.100.53";
    --told.ttl;
    PacketSpec as_the_client_sent_it = dns_query(port);
    --as_the_client_sent_it.ttl;
    EXPECT_EQ(to_client.frame, make_icmp_error(told, make_frame(as_the_client_sent_it), 28));
    // The answer does not fit on its way: the backend that gave it is told.
    const Fate answer = balancer.send_from_backend(answer_from(backend, port));
    const IcmpSpec too_big = {.destination = "198.51.100.53", .code = 4, .rest = 1'280};
    const Fate to_backend = balancer.send({make_icmp_error(too_big, answer.frame, 28)});
    ASSERT_EQ(to_backend.cause, std::nullopt);
    EXPECT_EQ(destination_of(to_backend), backend);
  }
  const IcmpSpec of_nobody = {.destination = "198.51.100.80"};
  PacketSpec about = udp("198.51.100.80", 53, "192.0.2.10", 1);
  EXPECT_EQ(balancer.send({make_icmp_error(of_nobody, make_frame(about), 28)}).cause,
            DropCause::kIcmpNoFlow);
  expect_no_connection(balancer);
}

TEST(one_packet, of_direct_server_return_needs_nothing_more) {
  std::string toml = config_of("one_packet = true\nmode = \"l2dsr\"\n");
  TestBalancer balancer(toml);
  PacketSpec sent = dns_query();
  const Fate fate = balancer.send_from_client(sent);
  ASSERT_EQ(fate.cause, std::nullopt);
  EXPECT_EQ(read_ends(fate.frame), (Ends{"192.0.2.10", "198.51.100.53", 40'000, 53}));
  expect_no_connection(balancer);
}

TEST(one_packet, without_a_usable_backend_drops_by_cause) {
  std::string toml = config_of();
  for (const std::string end :
       {"10.0.0.11\"}, {name = \"b2\"", "10.0.0.12\"}, {", "10.0.0.13\"}]"}) {
    const size_t at = toml.find(end);
    ASSERT_NE(at, std::string::npos);
    toml.insert(at + 10, ", weight = 0");
  }
  TestBalancer balancer(toml);
  EXPECT_EQ(balancer.send_from_client(dns_query()).cause, drop_cause::kNoBackend);
  expect_no_connection(balancer);
}

// Connections that are there when the file says that there shall be none end as connections do.
TEST(one_packet, comes_and_goes_by_a_reload) {
  TestBalancer balancer(config_of(""));
  ConsistencyChecker checker;
  const auto send = [&](uint16_t port) {
    checker.note(std::to_string(port), balancer.send_from_client(dns_query(port)));
  };
  for (uint16_t port = 1; port <= 100; ++port) send(port);
  EXPECT_EQ(balancer.report().flows.created, 100U);
  take(balancer, *parse_config(config_of()).config);
  for (uint16_t port = 1; port <= 200; ++port) send(port);
  EXPECT_EQ(balancer.report().flows.created, 100U);
  balancer.now = Tick{70};
  balancer.idle();
  EXPECT_EQ(balancer.report().flows.expired, 100U);
  for (uint16_t port = 1; port <= 200; ++port) send(port);
  EXPECT_EQ(balancer.report().flows.created, 100U);
  EXPECT_EQ(checker.violations(), 0U) << "the hash is the same";
  take(balancer, *parse_config(config_of("")).config);
  send(1);
  EXPECT_EQ(balancer.report().flows.created, 101U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(config, refuses_one_packet_where_it_cannot_be) {
  const auto dns = [](const std::string& keys, const std::string& fault) {
    return BadFile{"[[service]]\n" + kName, "[[service]] #!\n" + kName + keys, fault};
  };
  for (const BadFile& bad : std::vector<BadFile>{
           {"[[service]]\nname = \"web\"\n", "[[service]] #!\nname = \"web\"\none_packet = true\n",
            "one_packet is for UDP"},
           dns("one_packet = true\nalgorithm = \"least_connections\"\n",
               "no connections that least_connections could count"),
           {kName, kName + "one_packet = 1 #!\n", "give true or false"},
           {kBackend,
            "one_packet = true\n" + kBackend +
                " #!\n[[service]]\nname = \"other\"\naddress = \"198.51.100.54\"\nport = 53\n"
                "protocol = \"udp\"\nbackends = [{name = \"b1\", address = \"10.0.0.11\"}]\n",
            "it serves [[service]] other of line"}}) {
    expect_refused(bad);
  }
  const std::string toml =
      test_config("[[service]]\n" + kName,
                  "[[service]] #!\n" + kName + "one_packet = true\nmode = \"fullnat\"\n") +
      "[fullnat]\naddresses = [\"10.0.0.100\"]\n";
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value());
  config::expect_fault_at_mark(toml, outcome.faults, "brings answers back by their connection");
}

}  // namespace
}  // namespace roost::lb

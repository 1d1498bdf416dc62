// Timeouts of a service's own: how long its connections live, from when, and which give way.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lb/controlled.h"
#include "tests/lb/refused_config.h"
#include "tests/lb/reloaded.h"

namespace roost::lb {
namespace {

const std::string kDns = "name = \"dns\"\n";

// The service for DNS has these.
std::string dns_with(const std::string& timeouts) {
  return test_config(kDns, kDns + "timeouts = {" + timeouts + "}\n");
}

bool is_live_at(TestBalancer& balancer, uint64_t tick) {
  balancer.now = Tick{tick};
  balancer.idle();
  return balancer.report().live != 0;
}

TEST(service_timeouts, are_in_force_for_its_connections_alone) {
  TestBalancer balancer(dns_with("udp = 5"));
  balancer.send_from_client(dns_query());
  EXPECT_TRUE(is_live_at(balancer, 5));
  EXPECT_FALSE(is_live_at(balancer, 7));
  // Another service's, of the other family here, has the balancer's.
  balancer.send_from_client(udp("2001:db8:1::10", 40'000, "2001:db8:ffff::53", 53));
  EXPECT_TRUE(is_live_at(balancer, 7 + 60));
  EXPECT_FALSE(is_live_at(balancer, 7 + 62));
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(service_timeouts, that_are_not_given_are_the_balancers) {
  TestBalancer balancer(dns_with("tcp_syn = 5") + "[timeouts]\nudp = 20\n");
  balancer.send_from_client(dns_query());
  EXPECT_TRUE(is_live_at(balancer, 20));
  EXPECT_FALSE(is_live_at(balancer, 22));
}

TEST(service_timeouts, hold_for_what_a_backend_sends_and_begins) {
  TestBalancer balancer(dns_with("udp = 5"));
  PacketSpec answer = udp("10.0.0.11", 53, "192.0.2.10", 40'000);
  answer.destination_mac = "02:00:00:00:00:02";
  ASSERT_EQ(balancer.send_from_backend(answer).cause, std::nullopt);
  EXPECT_TRUE(is_live_at(balancer, 4));
  ASSERT_EQ(balancer.send_from_backend(answer).cause, std::nullopt);
  EXPECT_TRUE(is_live_at(balancer, 9));
  EXPECT_FALSE(is_live_at(balancer, 11));
  EXPECT_EQ(balancer.report().flows.created, 1U);
}

TEST(service_timeouts, of_tcp_are_by_state) {
  TestBalancer balancer(test_config("name = \"web\"\n",
                                    "name = \"web\"\ntimeouts = {tcp_syn = 4, "
                                    "tcp_established = 30}\n"));
  balancer.send_from_client({});
  EXPECT_FALSE(is_live_at(balancer, 6));
  const Fate syn = balancer.send_from_client({});
  const PacketSpec syn_ack{.destination_mac = "02:00:00:00:00:02",
                           .source = destination_of(syn),
                           .destination = "192.0.2.10",
                           .source_port = 8080,
                           .destination_port = 40'000,
                           .tcp_flags = net::tcp::kSyn | net::tcp::kAck};
  ASSERT_EQ(balancer.send_from_backend(syn_ack).cause, std::nullopt);
  ASSERT_EQ(balancer.send_from_client({.tcp_flags = net::tcp::kAck}).cause, std::nullopt);
  EXPECT_TRUE(is_live_at(balancer, 6 + 29));
  EXPECT_FALSE(is_live_at(balancer, 6 + 32));
}

TEST(service_timeouts, change_by_a_reload_from_the_next_packet_on) {
  TestBalancer balancer(dns_with("udp = 5"));
  balancer.send_from_client(dns_query(1));
  take(balancer, *parse_config(dns_with("udp = 50")).config);
  EXPECT_FALSE(is_live_at(balancer, 7)) << "no packet came since";
  balancer.send_from_client(dns_query(1));
  take(balancer, *parse_config(dns_with("udp = 20")).config);
  balancer.send_from_client(dns_query(1));
  EXPECT_TRUE(is_live_at(balancer, 7 + 20));
  balancer.send_from_client(dns_query(1));
  // Its service is in the file no more: it keeps what it had.
  take(balancer, *parse_config(test_config("198.51.100.53", "198.51.100.54")).config);
  balancer.send_from_client(dns_query(1));
  EXPECT_TRUE(is_live_at(balancer, 27 + 20));
  EXPECT_FALSE(is_live_at(balancer, 27 + 22));
}

// One that is silent for half a minute of a quarter of an hour gives way before one that is used
// every minute and was a second ago.
TEST(service_timeouts, measure_whose_silence_is_the_longest) {
  std::string toml = dns_with("udp = 1000") +
                     "[[service]]\nname = \"log\"\naddress = \"198.51.100.51\"\nport = 514\n"
                     "protocol = \"udp\"\nbackends = [{name = \"b1\", address = \"10.0.0.12\"}]\n";
  toml.replace(toml.find("4_096"), 5, "16");
  TestBalancer balancer(toml);
  const auto assure = [&](const std::string& service, uint16_t server_port, uint16_t port) {
    for (int i = 0; i < 4; ++i) {
      const auto spec = udp("192.0.2.10", port, service, server_port);
      ASSERT_EQ(balancer.send_from_client(spec).cause, std::nullopt);
      PacketSpec answer =
          udp(server_port == 53 ? "10.0.0.11" : "10.0.0.12", server_port, "192.0.2.10", port);
      answer.destination_mac = "02:00:00:00:00:02";
      ASSERT_EQ(balancer.send_from_backend(answer).cause, std::nullopt);
    }
  };
  for (uint16_t port = 1; port <= 8; ++port) assure("198.51.100.53", 53, port);
  balancer.now = Tick{29};
  for (uint16_t port = 1; port <= 8; ++port) assure("198.51.100.51", 514, port);
  balancer.now = Tick{30};
  ASSERT_EQ(balancer.send_from_client(dns_query(9)).cause, std::nullopt);
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.evicted, 1U);
  for (const ServiceReport& service : report.services) {
    EXPECT_EQ(service.backends[0].counters.flows_over, service.name == "dns" ? 1U : 0U)
        << service.name;
  }
}

TEST_F(Controlled, timeouts_of_services_are_shown_and_stay_when_others_change) {
  ASSERT_TRUE(reload(dns_with("udp = 5")).ok());
  const Json shown = must({{"command", "timeouts"}, {"name", "udp"}, {"seconds", 30}});
  EXPECT_EQ(shown["timeouts"]["udp"], 30.0);
  ASSERT_EQ(shown["services"].size(), 1U);
  EXPECT_EQ(shown["services"][0]["service"], "dns");
  EXPECT_EQ(shown["services"][0]["timeouts"], Json::object({{"udp", 5.0}}));
  TestBalancer& worker = workers_[0];
  worker.send_from_client(dns_query());
  worker.send_from_client(udp("2001:db8:1::10", 40'000, "2001:db8:ffff::53", 53));
  EXPECT_TRUE(is_live_at(worker, 28));
  EXPECT_EQ(worker.report().flows.expired, 1U) << "the one of dns";
  EXPECT_FALSE(is_live_at(worker, 32));
}

TEST(config, refuses_timeouts_of_a_service_that_cannot_be) {
  for (const BadFile& bad : std::vector<BadFile>{
           {kDns, kDns + "timeouts = {udp = 1024} #!\n",
            "[service.timeouts] udp: more than 1,023 ticks"},
           {kDns, kDns + "timeouts = {udp = 0} #!\n", "not a time; give seconds, more than 0"},
           {kDns, kDns + "timeouts = {icmp = 3} #!\n",
            "unknown key \"icmp\" in [service.timeouts]; known here are tcp_closed, tcp_closing"},
           {kDns, kDns + "timeouts = 3 #!\n", "timeouts"},
           {"", "[service.timeouts]\nudp = -1 #!\n", "not a time"}}) {
    expect_refused(bad);
  }
}

}  // namespace
}  // namespace roost::lb

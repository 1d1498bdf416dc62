// Right configuration files mean what they say.
#include "apps/lb/config/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

TEST(config, counts_timeouts_in_ticks_and_never_shortens_one) {
  const auto ticks = [](const std::string& toml, ConnectionState state) {
    return parse_config(toml).config.value().timeouts[static_cast<size_t>(state)];
  };
  using enum ConnectionState;
  const std::string plain = test_config();
  EXPECT_EQ(ticks(plain, kSynSent), 60U);
  EXPECT_EQ(ticks(plain, kSynReceived), 60U);
  EXPECT_EQ(ticks(plain, kEstablished), 900U);
  EXPECT_EQ(ticks(plain, kClientFinished), 120U);
  EXPECT_EQ(ticks(plain, kServerFinished), 120U);
  EXPECT_EQ(ticks(plain, kClosed), 10U);
  EXPECT_EQ(ticks(plain, kUdp), 60U);
  EXPECT_EQ(ticks(plain + "[timeouts]\nudp = 1023\n", kUdp), 1'023U);
  EXPECT_EQ(ticks(plain + "[timeouts]\nudp = 0.001\n", kUdp), 1U);
  EXPECT_EQ(ticks(plain + "[timeouts]\nudp = 7.25\n", kUdp), 8U);
  const std::string finer = test_config("tick_seconds = 1.0", "tick_seconds = 0.1");
  EXPECT_EQ(ticks(finer + "[timeouts]\ntcp_established = 102.3\ntcp_closing = 30\n", kEstablished),
            1'023U);
}

TEST(config, reads_everything_it_documents) {
  const ConfigOutcome outcome = parse_config(R"(
tick_seconds = 0.5
maglev_seed = 99
[table]
connections = 100
hash_seed = 5
[[port]]
addresses = ["192.0.2.1/24"]
vlan = [100, 7]
mac = "02:00:00:00:00:01"
promiscuous = true
mtu = 9_000
default_neighbour_mac = "02:00:00:00:00:fe"
rss = "source"
[[service]]
name = "web"
address = "198.51.100.80"
port = 443
protocol = "udp"
backends = [{name = "b", address = "10.9.9.9", port = 8443, weight = 3},
            {name = "c", address = "10.9.9.8"}]
[lb]
verify_l4_checksum = true
[timeouts]
tcp_established = 500
)");
  ASSERT_TRUE(outcome.config.has_value()) << describe(outcome.faults.at(0), "");
  const Config& config = *outcome.config;
  EXPECT_EQ(config.tick_microseconds, 500'000U);
  EXPECT_EQ(config.maglev_seed, 99U);
  EXPECT_EQ(config.table.connections, 100U);
  EXPECT_EQ(config.table.hash_seed, 5U);
  ASSERT_EQ(config.network.ports.size(), 1U);
  EXPECT_EQ(config.network.ports[0].vlan, (std::vector<uint16_t>{100, 7}));
  EXPECT_TRUE(config.network.ports[0].promiscuous);
  EXPECT_EQ(config.network.ports[0].mtu, 9'000);
  EXPECT_EQ(config.network.ports[0].rss, net::RssInput::kSource);
  EXPECT_EQ(config.network.ports[0].default_neighbour_mac->format(), "02:00:00:00:00:fe");
  ASSERT_EQ(config.services.size(), 1U);
  const ServiceConfig& service = config.services[0];
  EXPECT_EQ(service.protocol, net::IpProtocol::kUdp);
  EXPECT_EQ(service.backends[0].port, 8443);
  EXPECT_EQ(service.backends[0].weight, 3U);
  EXPECT_EQ(service.backends[1].port, 443) << "the service's own";
  EXPECT_EQ(service.backends[1].weight, 1U);
  EXPECT_TRUE(config.verify_l4_checksum);
  EXPECT_EQ(config.timeouts[static_cast<size_t>(ConnectionState::kEstablished)], 1'000U);
}

TEST(config, a_file_that_cannot_be_read_is_a_fault) {
  const ConfigOutcome none = read_config("/nowhere/lb.toml");
  ASSERT_EQ(none.faults.size(), 1U);
  EXPECT_EQ(describe(none.faults[0], "/nowhere/lb.toml"),
            "/nowhere/lb.toml: it cannot be read; give a file that is there and readable");
  EXPECT_EQ(read_config("/").faults.size(), 1U);
  EXPECT_EQ(read_config("/dev/zero").faults.size(), 1U);

  const std::string path = testing::TempDir() + "roost_config_test.toml";
  std::ofstream(path) << test_config();
  EXPECT_TRUE(read_config(path).config.has_value());
  std::filesystem::remove(path);
}

TEST(config, says_how_backends_are_checked) {
  const auto check_of = [](const std::string& check) {
    const ConfigOutcome outcome =
        parse_config(test_config("name = \"web\"\n", "name = \"web\"\n" + check + "\n"));
    return outcome.config ? outcome.config->services[0].check : std::nullopt;
  };
  EXPECT_FALSE(check_of("").has_value());
  using control::StatusRange;
  const auto http_of = [&](const std::string& keys) {
    return std::get<control::HttpCheck>(check_of("check = {kind = \"http\"" + keys + "}")->kind);
  };
  const auto tcp = check_of("check = {kind = \"tcp\"}");
  EXPECT_TRUE(std::holds_alternative<control::TcpCheck>(tcp->kind));
  EXPECT_EQ(http_of("").path, "/");
  EXPECT_EQ(http_of("").statuses, (std::vector<StatusRange>{{200, 399}}));
  EXPECT_EQ(http_of(", status = 204").statuses, (std::vector<StatusRange>{{204, 204}}));
  EXPECT_EQ(http_of(", status = [200, \"300-302\", \"599\"]").statuses,
            (std::vector<StatusRange>{{200, 200}, {300, 302}, {599, 599}}));
  EXPECT_EQ(http_of(", host = \"www.example.org\"").host, "www.example.org");
  EXPECT_EQ(http_of(", body = \"all is well\"").body, "all is well");
  EXPECT_FALSE(http_of("").tls.has_value());
  EXPECT_FALSE(http_of(", method = \"GET\"").is_head);
  EXPECT_TRUE(http_of(", method = \"HEAD\"").is_head);
  const auto check = check_of(
      "check = {kind = \"http\", path = \"/up\", port = 81, every_seconds = 0.5, rise = 4, fall = "
      "1}");
  EXPECT_EQ(std::get<control::HttpCheck>(check->kind).path, "/up");
  EXPECT_EQ(check->port, 81);
  EXPECT_EQ(check->every_seconds, 0.5);
  EXPECT_EQ(check->timeout_seconds, 0.5) << "no longer than the time between two checks";
  EXPECT_EQ(check->rise, 4U);
  EXPECT_EQ(check->fall, 1U);
}

TEST(config, says_whose_certificates_count) {
  const auto tls_of = [](const std::string& keys) {
    const ConfigOutcome outcome = parse_config(test_config(
        "name = \"web\"\n", "name = \"web\"\ncheck = {kind = \"https\"" + keys + "}\n"));
    const auto http = std::get<control::HttpCheck>(outcome.config->services[0].check->kind);
    return http.tls.value_or(control::TlsSettings{.verify = false, .ca = "not there"});
  };
  EXPECT_TRUE(tls_of("").verify);
  EXPECT_EQ(tls_of("").ca, "");
  EXPECT_EQ(tls_of(", ca = \"/etc/roost/ca.pem\"").ca, "/etc/roost/ca.pem");
  EXPECT_FALSE(tls_of(", verify = false").verify);
  EXPECT_EQ(tls_of(", verify = false").ca, "");
}

TEST(config, says_which_datagrams_are_sent) {
  const auto kind_of = [](const std::string& check) {
    const ConfigOutcome outcome =
        parse_config(test_config("name = \"web\"\n", "name = \"web\"\ncheck = {" + check + "}\n"));
    EXPECT_TRUE(outcome.config.has_value()) << check;
    return outcome.config ? outcome.config->services[0].check->kind : control::CheckKind{};
  };
  const auto udp =
      std::get<control::UdpCheck>(kind_of("kind = \"udp\", send = \"ping\", expect = [0, 0xff]"));
  EXPECT_EQ(udp.send, "ping");
  EXPECT_EQ(udp.expect, std::string("\0\xff", 2));
  EXPECT_EQ(std::get<control::UdpCheck>(kind_of("kind = \"udp\", send = \"a\"")).expect, "");
  const auto dns = std::get<control::DnsCheck>(kind_of("kind = \"dns\", name = \"a.test\""));
  EXPECT_EQ(dns.name, "a.test");
  EXPECT_EQ(dns.type, 1);
  EXPECT_EQ(dns.rcode, 0);
  const auto other = std::get<control::DnsCheck>(
      kind_of("kind = \"dns\", name = \".\", type = \"SRV\", rcode = \"NXDOMAIN\""));
  EXPECT_EQ(other.type, 33);
  EXPECT_EQ(other.rcode, 3);
}

TEST(config, says_where_it_is_controlled) {
  EXPECT_TRUE(parse_config(test_config()).config->control.socket.empty());
  const ConfigOutcome outcome =
      parse_config(test_config() +
                   "[control]\nsocket = \"/run/roost/lb.sock\"\nmode = \"0620\"\ngroup = \"adm\"\n"
                   "metrics = \"[::1]:9100\"\n");
  ASSERT_TRUE(outcome.config.has_value());
  EXPECT_EQ(outcome.config->control.socket, "/run/roost/lb.sock");
  EXPECT_EQ(outcome.config->control.socket_mode, 0620U);
  EXPECT_EQ(outcome.config->control.socket_group, "adm");
  EXPECT_EQ(outcome.config->control.metrics, "[::1]:9100");
}

}  // namespace
}  // namespace roost::lb

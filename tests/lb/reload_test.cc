// Another configuration while packets flow: connections stay, new ones follow the file, and a file
// with anything wrong changes nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "tests/lb/consistency.h"
#include "tests/lb/controlled.h"
#include "tests/net/message_frames.h"

namespace roost::lb {
namespace {

constexpr const char* kSecondOfWeb =
    R"(  {name = "b2", address = "10.0.0.12", port = 8080, weight = 2},)";

class Reloaded : public Controlled {
 protected:
  static constexpr uint16_t kFirstPort = 1'000;
  static constexpr uint16_t kFlows = 300;

  // A packet of each IPv4 web connection of both workers.
  void send_all(ConsistencyChecker& checker, uint8_t flags) {
    for (size_t worker = 0; worker < 2; ++worker) {
      for (uint16_t port = kFirstPort; port < kFirstPort + kFlows; ++port) {
        checker.note(std::to_string(worker) + " " + std::to_string(port),
                     workers_[worker].send_from_client({.source_port = port, .tcp_flags = flags}));
      }
    }
  }
  // New web connections by endpoint, of both workers.
  std::map<std::string, size_t> new_flows(size_t count) {
    std::map<std::string, size_t> flows;
    for (size_t i = 0; i < count; ++i) {
      const PacketSpec spec{.source_port = next_port_++};
      ++flows[endpoint_of(workers_[i % 2].send_from_client(spec))];
    }
    return flows;
  }
  Json rows(const std::string& service) {
    return must({{"command", "backends"}, {"service", service}})["backends"];
  }
  Json must_reload(const std::string& toml) {
    const Result<Json> result = reload(toml);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.value() : Json();
  }

  uint16_t next_port_ = 20'000;
};

TEST_F(Reloaded, the_checker_finds_connections_that_move) {
  ConsistencyChecker checker;
  send_all(checker, net::tcp::kSyn);
  send_all(checker, net::tcp::kAck);
  EXPECT_EQ(checker.violations(), 0U);
  // As if connections were forgotten with the old configuration.
  must_reload(test_config(kSecondOfWeb, ""));
  must({{"command", "flows"}, {"action", "delete"}, {"all", true}});
  send_all(checker, net::tcp::kAck);
  EXPECT_GT(checker.violations(), kFlows / 2) << "every second one was on b2";
}

TEST_F(Reloaded, connections_stay_and_new_ones_follow_the_file) {
  ConsistencyChecker checker;
  send_all(checker, net::tcp::kSyn);
  const Json told = must_reload(test_config(
      kSecondOfWeb, R"({name = "b4", address = "10.0.0.11", port = 8081, weight = 2},)"));
  EXPECT_EQ(told["added"], 1);
  EXPECT_EQ(told["removed"], 1);
  EXPECT_GT(told["connections_on_removed"].get<uint64_t>(), kFlows / 2);
  send_all(checker, net::tcp::kAck);
  const auto flows = new_flows(400);
  EXPECT_EQ(flows.size(), 3U);
  EXPECT_FALSE(flows.contains("10.0.0.12:8080"));
  EXPECT_TRUE(flows.contains("10.0.0.11:8081"));
  EXPECT_EQ(checker.violations(), 0U);
  expect_sums();
  EXPECT_EQ(rows("web")[3]["name"], "b2");
  EXPECT_EQ(rows("web")[3]["state"], "removed");
  EXPECT_EQ(rows("web")[3]["live_flows"], told["connections_on_removed"]);

  // What the backends answer reaches the client from the virtual address.
  for (uint16_t port = kFirstPort; port < kFirstPort + kFlows; ++port) {
    if (checker.endpoint("0 " + std::to_string(port)) != "10.0.0.12:8080") continue;
    const Fate fate = workers_[0].send_from_backend({.source_mac = "02:00:00:00:02:12",
                                                     .destination_mac = "02:00:00:00:00:02",
                                                     .source = "10.0.0.12",
                                                     .destination = "192.0.2.10",
                                                     .source_port = 8080,
                                                     .destination_port = port,
                                                     .tcp_flags = net::tcp::kAck});
    ASSERT_EQ(endpoint_of(fate), "192.0.2.10:" + std::to_string(port));
  }
}

TEST_F(Reloaded, a_removed_backend_is_forgotten_when_its_last_connection_is_over) {
  ConsistencyChecker checker;
  send_all(checker, net::tcp::kSyn);
  const std::string without = test_config(kSecondOfWeb, "");
  must_reload(without);
  must({{"command", "flows"}, {"action", "delete"}, {"backend", "b2"}});
  expect_sums();
  EXPECT_EQ(rows("web").size(), 3U) << "until another reload";
  must_reload(without);
  EXPECT_EQ(rows("web").size(), 2U);
  const Json stats = must({{"command", "stats"}});
  EXPECT_GT(stats["forgotten_backends"]["flows"].get<uint64_t>(), kFlows / 2);
  expect_sums();
  // Its slot is another one's now.
  must_reload(test_config(kSecondOfWeb, R"({name = "b4", address = "10.0.0.12", port = 99},)"));
  EXPECT_EQ(rows("web").size(), 3U);
  EXPECT_TRUE(new_flows(100).contains("10.0.0.12:99"));
  expect_sums();
}

TEST_F(Reloaded, a_backend_that_comes_back_has_its_connections_and_counts_still) {
  ConsistencyChecker checker;
  send_all(checker, net::tcp::kSyn);
  const uint64_t flows = rows("web")[1]["live_flows"].get<uint64_t>();
  must_reload(test_config(kSecondOfWeb, ""));
  must_reload(test_config(R"("b2", address = "10.0.0.12", port = 8080, weight = 2)",
                          R"("back", address = "10.0.0.12", port = 8080, weight = 3)"));
  EXPECT_EQ(rows("web")[1]["name"], "back");
  EXPECT_EQ(rows("web")[1]["state"], "up");
  EXPECT_EQ(rows("web")[1]["weight"], 3);
  EXPECT_EQ(rows("web")[1]["live_flows"], flows);
  send_all(checker, net::tcp::kAck);
  EXPECT_EQ(checker.violations(), 0U);
  expect_sums();
}

TEST_F(Reloaded, a_removed_service_ends_with_its_connections) {
  ConsistencyChecker checker;
  send_all(checker, net::tcp::kSyn);
  const std::string moved = test_config("198.51.100.80", "198.51.100.81");
  must_reload(moved);
  send_all(checker, net::tcp::kAck);
  EXPECT_EQ(checker.violations(), 0U);
  EXPECT_EQ(new_flows(10), (std::map<std::string, size_t>{{"no_service", 10}}));
  const Fate fate = workers_[0].send_from_client({.destination = "198.51.100.81"});
  EXPECT_EQ(fate.cause, std::nullopt);
  expect_sums();
  must({{"command", "flows"}, {"action", "delete"}, {"all", true}});
  must_reload(moved);
  EXPECT_EQ(must({{"command", "services"}})["services"].size(), 4U);
  expect_sums();
}

TEST_F(Reloaded, the_next_connection_of_a_closed_one_leaves_a_removed_backend) {
  uint16_t port = 1;
  while (new_flow(0, port) != "10.0.0.12") ++port;
  const auto send = [&](uint8_t flags) {
    return destination_of(workers_[0].send_from_client({.source_port = port, .tcp_flags = flags}));
  };
  must_reload(test_config(kSecondOfWeb, ""));
  EXPECT_EQ(send(net::tcp::kRst), "10.0.0.12");
  EXPECT_NE(send(net::tcp::kSyn), "10.0.0.12");
  expect_sums();
}

// A virtual address on the clients' own network is advertised as long as it has a service or
// connections of one that was removed.
TEST_F(Reloaded, virtual_addresses_are_advertised) {
  net::Bytes solicitation = net::kArpRequest;
  solicitation.back() = 80;
  net::Bytes ping = net::kEcho4;
  ping[33] = 80;
  ping[25] = static_cast<uint8_t>(ping[25] - 79);
  const auto is_answered = [&](TestBalancer& worker) {
    worker.originated.clear();
    EXPECT_TRUE(worker.send({solicitation, 0, 128, {}}).is_consumed);
    const bool is_pinged = !worker.send({ping, 0, 128, {}}).cause;
    EXPECT_EQ(worker.originated.size(), is_pinged ? 1U : 0U);
    return is_pinged;
  };
  EXPECT_FALSE(is_answered(workers_[1]));
  must_reload(test_config("198.51.100.80", "192.0.2.80"));
  EXPECT_TRUE(is_answered(workers_[1]));
  const Fate fate = workers_[1].send_from_client({.destination = "192.0.2.80"});
  EXPECT_EQ(fate.cause, std::nullopt);
  for (int i = 0; i < 2; ++i) must_reload(test_config());
  EXPECT_TRUE(is_answered(workers_[1]));
  must({{"command", "flows"}, {"action", "delete"}, {"all", true}});
  must_reload(test_config());
  EXPECT_FALSE(is_answered(workers_[1]));
  expect_sums();
}

TEST_F(Reloaded, timeouts_are_the_files_and_drained_backends_stay_drained) {
  must({{"command", "timeouts"}, {"name", "udp"}, {"seconds", 7}});
  must({{"command", "backend"}, {"action", "drain"}, {"name", "b2"}});
  must_reload(test_config() + "[timeouts]\ntcp_syn = 3\n");
  EXPECT_EQ(must({{"command", "timeouts"}})["timeouts"]["udp"], 60.0);
  EXPECT_EQ(rows("web")[1]["state"], "drained");
  EXPECT_EQ(rows("web")[1]["weight"], 0);
  EXPECT_FALSE(new_flows(100).contains("10.0.0.12:8080"));
  for (TestBalancer& worker : workers_) {
    worker.now.count += 4;
    EXPECT_EQ(worker.report().live, 50U);
    worker.idle(1);
    EXPECT_EQ(worker.report().live, 0U) << "they live for 3 s now";
  }
  must({{"command", "backend"}, {"action", "up"}, {"name", "b2"}});
  EXPECT_TRUE(new_flows(100).contains("10.0.0.12:8080"));
}

TEST_F(Reloaded, what_checks_have_found_stays_and_old_checks_are_nobodys) {
  const std::string checked =
      test_config("name = \"web\"\n", "name = \"web\"\ncheck = {kind = \"tcp\", port = 99}\n");
  must_reload(checked);
  const auto second = [&] { return control_->checked_backends().at(1); };
  EXPECT_EQ(control_->checked_backends().size(), 3U);
  EXPECT_EQ(second().port, 99);
  const Control::CheckedBackend old = second();
  const auto set_health = [&](const Control::CheckedBackend& backend, bool is_well) {
    const std::string failure = is_well ? "" : "Connection refused";
    return while_serving([&] { return control_->set_health(backend, is_well, failure); });
  };
  EXPECT_FALSE(set_health(old, false).has_value());
  EXPECT_EQ(rows("web")[1]["state"], "failing");
  must_reload(checked);
  EXPECT_EQ(rows("web")[1]["state"], "failing");
  EXPECT_FALSE(second().is_well);
  EXPECT_EQ(second().failure, "Connection refused");
  EXPECT_FALSE(set_health(old, true).has_value());
  EXPECT_EQ(rows("web")[1]["state"], "failing") << "the checks of the file before";
  EXPECT_FALSE(set_health(second(), true).has_value());
  EXPECT_EQ(rows("web")[1]["state"], "up");
  EXPECT_FALSE(set_health(second(), false).has_value());
  must_reload(test_config());
  EXPECT_EQ(rows("web")[1]["state"], "up") << "nobody checks it any more";
  EXPECT_EQ(rows("web")[1]["failure"], "");
}

struct BadFile {
  const char* replace;
  const char* by;
  const char* words;
};
constexpr BadFile kBadFiles[] = {
    {"name = \"web\"", "name = ", "Reloaded"},
    {"tick_seconds = 1.0", "tick_seconds = 1.0\nticks = 1", ":2: "},
    {"10.0.0.13\", port", "10.9.9.9\", port", "10.9.9.9"},
    {"weight = 2", "weight = 0\nweight = 1", "Reloaded"},
    {"weight = 2", "weight = 4294967295", "weight"},
    {"tick_seconds = 1.0", "tick_seconds = 2.0", "tick_seconds cannot change"},
    {"4_096", "8_192", "[table] connections cannot change"},
    {"hash_seed = 7", "hash_seed = 8", "[table] hash_seed cannot change"},
    {"192.0.2.1/24", "192.0.2.2/24", ":6: [[port]] addresses cannot change"},
    {"mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:07\"", "[[port]] mac cannot change"},
    {"mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nvlan = [5]", "[[port]] vlan"},
    {"mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nmtu = 1400", "[[port]] mtu"},
    {"mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\npromiscuous = true",
     "[[port]] promiscuous"},
    {"mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nrss = \"source\"",
     "[[port]] rss"},
    {"mac = \"02:00:00:00:00:01\"",
     "mac = \"02:00:00:00:00:01\"\ndefault_neighbour_mac = \"02:00:00:00:00:09\"",
     "[[port]] default_neighbour_mac"},
    {"[[neighbour]]", "[[port]]\naddresses = [\"10.3.0.1/24\"]\n[[neighbour]]",
     "the number of [[port]]s"},
    {"02:00:00:00:01:11", "02:00:00:00:01:12", "[[neighbour]] cannot change"},
    {"[[neighbour]]\naddress = \"192.0.2.11\"\nmac = \"02:00:00:00:01:11\"\n", "",
     "[[neighbour]] cannot change"},
    {"[[neighbour]]", "[[route]]\nprefix = \"10.5.0.0/16\"\nvia = \"10.0.0.11\"\n[[neighbour]]",
     "[[route]] cannot change"},
    {"[table]", "[lb]\nverify_l4_checksum = true\n[table]", "[lb] verify_l4_checksum"},
    {"[table]", "[control]\nsocket = \"/tmp/roost-lb.sock\"\n[table]", "[control] socket"},
    {"[table]", "[control]\nmetrics = \"127.0.0.1:9\"\n[table]", "[control] metrics"},
};

// Beside what is refused, each of them takes the second backend away.
TEST_F(Reloaded, a_bad_file_changes_nothing_and_says_why) {
  ConsistencyChecker checker;
  send_all(checker, net::tcp::kSyn);
  TestBalancer twin;
  const std::string before =
      must({{"command", "backends"}}).dump() + must({{"command", "timeouts"}}).dump();
  const auto expect_as_before = [&](const std::string& what) {
    const std::string after =
        must({{"command", "backends"}}).dump() + must({{"command", "timeouts"}}).dump();
    EXPECT_EQ(after, before) << what;
  };
  for (const BadFile& bad : kBadFiles) {
    std::string toml = test_config(bad.replace, bad.by) + "[timeouts]\nudp = 1\n";
    if (const size_t at = toml.find(kSecondOfWeb); at != std::string::npos) {
      toml.erase(at, std::string_view(kSecondOfWeb).size());
    }
    const Result<Json> outcome = reload(toml);
    ASSERT_FALSE(outcome.ok()) << bad.by;
    EXPECT_NE(outcome.error().message.find(bad.words), std::string::npos)
        << bad.by << ": " << outcome.error().message;
    expect_as_before(bad.by);
  }
  std::remove(config_path().c_str());
  EXPECT_NE(refusal({{"command", "reload"}}).find(config_path()), std::string::npos);
  expect_as_before("no file");
  for (uint16_t i = 0; i < 200; ++i) {
    const PacketSpec spec{.source_port = next_port_++};
    EXPECT_EQ(endpoint_of(workers_[i % 2].send_from_client(spec)),
              endpoint_of(twin.send_from_client(spec)));
  }
  send_all(checker, net::tcp::kAck);
  EXPECT_EQ(checker.violations(), 0U);
  expect_sums();
  const Json reloads = must({{"command", "stats"}})["reloads"];
  EXPECT_EQ(reloads["taken"], 0);
  EXPECT_EQ(reloads["refused"], std::size(kBadFiles) + 1);
}

TEST_F(Reloaded, a_worker_that_does_not_answer_keeps_all_from_changing) {
  serving_count_ = 1;
  EXPECT_NE(reload(test_config(kSecondOfWeb, "")).error().message.find("worker 1"),
            std::string::npos);
  serving_count_ = 2;
  EXPECT_TRUE(new_flows(200).contains("10.0.0.12:8080"));
  EXPECT_EQ(rows("web").size(), 3U);
}

std::string ipv4_only() {
  const std::string all = test_config();
  std::string toml = all.substr(0, all.find("[[service]]\nname = \"web6\""));
  const size_t dns = all.find("[[service]]\nname = \"dns\"");
  return toml + all.substr(dns, all.find("[[service]]\nname = \"dns6\"") - dns);
}

class ReloadedIpv4 : public Controlled {
 protected:
  ReloadedIpv4() : Controlled(ipv4_only()) {}
};

TEST_F(ReloadedIpv4, a_family_without_a_table_gets_no_services) {
  const Result<Json> outcome = reload(test_config());
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("began without IPv6 services"), std::string::npos);
  EXPECT_TRUE(reload(ipv4_only()).ok());
}

}  // namespace
}  // namespace roost::lb

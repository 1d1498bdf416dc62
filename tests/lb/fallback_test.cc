// A fallback backend gets new connections when no other backend of its service is up, and only
// then; connections stay where they began.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/lb/consistency.h"
#include "tests/lb/controlled.h"
#include "tests/lb/refused_config.h"

namespace roost::lb {
namespace {

const std::string kB3 = R"({name = "b3", address = "10.0.0.13", port = 8080})";
const std::string kFallbackB3 =
    R"({name = "b3", address = "10.0.0.13", port = 8080, fallback = true})";

std::string with_fallback(const std::string& algorithm) {
  std::string toml = test_config(kB3, kFallbackB3);
  const std::string name = "name = \"web\"\n";
  return toml.replace(toml.find(name), name.size(),
                      name + "algorithm = \"" + algorithm + "\"\ncheck = {kind = \"tcp\"}\n");
}

class Fallback : public Controlled, public testing::WithParamInterface<std::string> {
 protected:
  Fallback() : Controlled(with_fallback(GetParam())) {}

  // New web connections by backend, of both workers and many clients.
  std::map<std::string, size_t> new_flows() {
    std::map<std::string, size_t> flows;
    for (size_t i = 0; i < 200; ++i) {
      const PacketSpec spec{.source = "192.0.2." + std::to_string(10 + i % 200),
                            .source_port = next_port_++};
      const std::string connection = spec.source + " " + std::to_string(spec.source_port);
      const Fate fate = workers_[i % 2].send_from_client(spec);
      specs_.emplace_back(i % 2, spec);
      checker_.note(connection, fate);
      ++flows[endpoint_of(fate)];
    }
    return flows;
  }
  // All connections go on where they began.
  void expect_all_stay() {
    for (const auto& [worker, spec] : specs_) {
      PacketSpec data = spec;
      data.tcp_flags = net::tcp::kAck;
      checker_.note(spec.source + " " + std::to_string(spec.source_port),
                    workers_[worker].send_from_client(data));
    }
    EXPECT_EQ(checker_.violations(), 0U);
  }
  void set(const std::string& action, const std::string& name) {
    must({{"command", "backend"}, {"action", action}, {"name", name}, {"service", "web"}});
  }
  void set_health(size_t backend, bool is_well) {
    const Control::CheckedBackend checked = control_->checked_backends().at(backend);
    EXPECT_FALSE(while_serving(
        [&] { return control_->set_health(checked, is_well, is_well ? "" : "timed out"); }));
  }
  Json row(size_t backend) {
    return must({{"command", "backends"}, {"service", "web"}})["backends"][backend];
  }

  ConsistencyChecker checker_;
  std::vector<std::pair<size_t, PacketSpec>> specs_;
  uint16_t next_port_ = 1'000;
};

INSTANTIATE_TEST_SUITE_P(by, Fallback, testing::Values("maglev", "source", "least_connections"),
                         [](const auto& one) { return one.param; });

using Flows = std::map<std::string, size_t>;

TEST_P(Fallback, gets_new_connections_while_no_other_backend_is_up) {
  EXPECT_FALSE(new_flows().contains("10.0.0.13:8080"));
  EXPECT_EQ(row(2)["state"], "standby");
  EXPECT_EQ(row(2)["weight"], 0);
  EXPECT_EQ(row(2)["configured_weight"], 1);

  set("drain", "b1");
  EXPECT_EQ(new_flows(), (Flows{{"10.0.0.12:8080", 200}})) << "one of two is enough";
  take_events();
  set_health(1, false);
  EXPECT_EQ(take_events(),
            (std::vector<std::string>{
                "<4>backend b2 of web (10.0.0.12:8080) fails its checks: timed out\n",
                "<4>new connections of web go to its fallback: no other backend is up\n"}));
  EXPECT_EQ(new_flows(), (Flows{{"10.0.0.13:8080", 200}}));
  EXPECT_EQ(row(2)["state"], "up");
  EXPECT_EQ(row(2)["weight"], 1);

  set("up", "b1");
  EXPECT_EQ(take_events().back(), "<5>new connections of web go to its fallback no more\n");
  EXPECT_EQ(new_flows(), (Flows{{"10.0.0.11:8080", 200}}));
  EXPECT_GT(row(2)["live_flows"].get<uint64_t>(), 0U);
  expect_all_stay();
  expect_sums();
}

TEST_P(Fallback, that_is_not_well_itself_gets_none) {
  set_health(2, false);
  set("down", "b1");
  set("down", "b2");
  EXPECT_EQ(new_flows(), (Flows{{"no_backend", 200}}));
  set_health(2, true);
  EXPECT_TRUE(new_flows().contains("10.0.0.13:8080"));
  set("drain", "b3");
  EXPECT_EQ(row(2)["state"], "drained");
  EXPECT_TRUE(new_flows().contains("no_backend"));
  expect_sums();
}

TEST_P(Fallback, stays_in_force_over_a_reload_and_begins_by_one) {
  set("down", "b1");
  set("down", "b2");
  new_flows();
  ASSERT_TRUE(reload(with_fallback(GetParam())).ok());
  EXPECT_EQ(row(2)["weight"], 1);
  EXPECT_EQ(new_flows(), (Flows{{"10.0.0.13:8080", 200}}));
  expect_all_stay();
  // The file says that it is none any more, and then of another one that it is.
  set("up", "b1");
  set("up", "b2");
  ASSERT_TRUE(reload(test_config()).ok());
  EXPECT_EQ(new_flows().size(), 3U);
  ASSERT_TRUE(reload(with_fallback("maglev")).ok());
  EXPECT_EQ(new_flows().size(), 2U);
  expect_sums();
}

TEST(fallback, serves_from_the_start_where_the_others_have_no_weight) {
  std::string toml = test_config(kB3, kFallbackB3);
  for (const char* address : {"10.0.0.11", "10.0.0.12"}) {
    const std::string end = std::string(address) + "\", port = 8080";
    toml.replace(toml.find(end), end.size(), end + ", weight = 0");
  }
  toml.replace(toml.find(", weight = 2"), 12, "");
  TestBalancer balancer(toml);
  EXPECT_EQ(destination_of(balancer.send_from_client({})), "10.0.0.13");
}

TEST(config, refuses_fallbacks_of_nothing) {
  const std::string dns = "backends = [{name = \"b1\", address = \"10.0.0.11\"}]";
  const std::string service = "[[service]]\nname = \"dns\"\n";
  std::string toml =
      test_config(dns, "backends = [{name = \"b1\", address = \"10.0.0.11\", fallback = true}]");
  toml.replace(toml.find(service), service.size(), "[[service]] #!\nname = \"dns\"\n");
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value());
  config::expect_fault_at_mark(toml, outcome.faults, "every backend is a fallback");
  expect_refused(
      {kB3, R"({name = "b3", address = "10.0.0.13", fallback = 1} #!)", "give true or false"});
}

}  // namespace
}  // namespace roost::lb

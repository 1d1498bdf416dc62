// The commands of the firewall, reloads and its log, while two workers share its connections.
#include "apps/firewall/control/control.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <fstream>
#include <random>
#include <thread>
#include <utility>

#include "tests/firewall/wire_bench.h"
#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::firewall {
namespace {

using control::Json;
using lb::make_frame;
using lb::PacketSpec;
namespace flags = net::tcp;
using Strings = std::vector<std::string>;

const std::string kFirewall =
    "[firewall]\nwire = true\nhash_seed = 7\nconnections = 1_000\nlog_per_second = 4\n";
const std::string kWeb =
    "[[rule]]\nname = \"web\"\nfrom = [\"port 0\"]\nprotocol = \"tcp\"\nports = [80, 443]\n"
    "action = \"allow\"\nlog = true\n";
const std::string kDns =
    "[[rule]]\nname = \"dns\"\nfrom = [\"port 0\"]\nprotocol = \"udp\"\nports = [53]\n"
    "action = \"allow\"\n";
const std::string kSsh =
    "[[rule]]\nname = \"ssh\"\nfrom = [\"port 1\"]\nprotocol = \"tcp\"\nports = [22]\n"
    "action = \"allow\"\n";

class Filtered : public testing::Test {
 protected:
  Filtered() {
    write(kFirewall, kWeb + kDns + kSsh);
    ConfigOutcome outcome = read_config(path());
    EXPECT_TRUE(outcome.config.has_value());
    config_ = std::move(outcome.config).value_or(Config{});
    control::Control::Config control_config{
        .function = "firewall",
        .commands = command_list(),
        .mailboxes = &mailboxes_,
        .config_path = path(),
        .tell = [this](control::Severity, std::string_view text) { told.emplace_back(text); }};
    std::vector<State*> states;
    for (size_t i = 0; i < kWorkers; ++i) {
      workers_[i] = std::make_unique<Worker>(
          State::create(config_, std::vector<net::MacAddress>(2, {{2, 0, 0, 0, 0, 9}})).value(), i);
      Worker& worker = *workers_[i];
      worker.totals.ports.resize(2);
      control_config.workers.push_back(control::worker_handle(
          worker.state, [&worker](node::RunTotals& totals) { totals = worker.totals; }));
      states.push_back(&worker.state);
    }
    control_ = std::make_unique<Control>(config_, std::move(control_config), std::move(states));
  }
  ~Filtered() override {
    for (const auto& worker : workers_) {
      worker->state.tracker().settle();  // what is over by now
      EXPECT_TRUE(worker->state.tracker().audit());
    }
  }

  void write(const std::string& firewall, const std::string& rules) const {
    std::ofstream(path()) << firewall << WireBench::kPorts << rules;
  }
  // By the queue of a worker, which hands it to its owner; that one's fate, and who it was.
  std::string send(const Bytes& frame, uint16_t in_port = 0, size_t worker = 0) {
    std::string fate = send_through(workers_[worker]->datapath, {frame}, in_port, now).front();
    decided_by = worker;
    if (!fate.starts_with("of worker ")) return fate;
    decided_by = 1 - worker;
    EXPECT_EQ(fate, "of worker " + std::to_string(decided_by));
    return send_through(workers_[decided_by]->datapath, {frame}, in_port, now).front();
  }
  std::string send(const PacketSpec& packet, uint16_t in_port = 0, size_t worker = 0) {
    return send(make_frame(packet), in_port, worker);
  }
  void connect(PacketSpec syn, uint16_t in_port = 0) {
    syn.payload = "";
    const auto back = static_cast<uint16_t>(1 - in_port);
    EXPECT_EQ(send(syn, in_port), "pass");
    EXPECT_EQ(send(answer_to(syn, flags::kSyn | flags::kAck), back), "pass");
    syn.tcp_flags = flags::kAck;
    EXPECT_EQ(send(syn, in_port), "pass");
  }

  template <class Call>
  auto while_served(Call&& call) {
    std::atomic<bool> is_over = false;
    std::thread serving([&] {
      while (!is_over.load()) {
        for (size_t i = 0; i < kWorkers; ++i) mailboxes_.mailbox(i).serve();
      }
    });
    auto result = call();
    is_over.store(true);
    serving.join();
    return result;
  }
  Result<Json> run(const Json& request) {
    return while_served([&] { return control_->run(request); });
  }
  Json answer(const Json& request) {
    return Json::parse(while_served([&] { return control_->answer(request.dump()); }));
  }
  Json ask(const std::string& command, Json request = Json::object()) {
    request["command"] = command;
    Result<Json> result = run(request);
    EXPECT_TRUE(result.ok()) << request << (result.ok() ? "" : result.error().message);
    return result.ok() ? std::move(result).value() : Json();
  }
  std::string refusal(const std::string& command, Json request = Json::object()) {
    request["command"] = command;
    const Result<Json> result = run(request);
    return result.ok() ? "taken: " + result.value().dump() : result.error().message;
  }
  // "name action packets" of each rule.
  Strings rule_rows() {
    Strings rows;
    const Json result = ask("rules");
    for (const Json& row : result["rules"]) {
      rows.push_back(fmt::format("{} {} {}", row["rule"].get<std::string>(),
                                 row["action"].get<std::string>(), row["packets"].get<uint64_t>()));
    }
    return rows;
  }
  // "client state" of connections, sorted.
  Strings connection_rows(const Json& request = Json::object()) {
    Strings rows;
    const Json result = ask("connections", request);
    for (const Json& row : result["flows"]) {
      rows.push_back(fmt::format("{} {} {}", row["protocol"].get<std::string>(),
                                 row["client"].get<std::string>(),
                                 row["state"].get<std::string>()));
    }
    std::ranges::sort(rows);
    return rows;
  }
  void look() {
    while_served([&] {
      control_->look();
      return true;
    });
  }
  State& state(size_t worker) { return workers_[worker]->state; }
  Datapath& datapath(size_t worker) { return workers_[worker]->datapath; }
  uint64_t begun() { return state(0).filter_counters().begun + state(1).filter_counters().begun; }

  static constexpr size_t kWorkers = 2;
  Strings told;
  Tick now{1};
  size_t decided_by = 0;

 private:
  struct Worker {
    Worker(State made, size_t number)
        : state(std::move(made)),
          datapath(state,
                   node::FlowOwner({.worker_count = kWorkers, .worker = number, .seed = 7})) {}
    State state;
    Datapath datapath;
    node::RunTotals totals{};
  };
  static std::string path() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    return testing::TempDir() + test->test_suite_name() + "." + test->name() + ".toml";
  }

  Config config_;
  node::WorkerMailboxes mailboxes_{kWorkers};
  std::array<std::unique_ptr<Worker>, kWorkers> workers_;
  std::unique_ptr<Control> control_;
};

const PacketSpec kSyn;
const PacketSpec kQuery = lb::dns_query();
const PacketSpec kLogin{
    .source = "198.51.100.9", .destination = "192.0.2.10", .destination_port = 22};

TEST_F(Filtered, rules_are_listed_with_the_counts_of_all_workers) {
  uint64_t of_first = 0;
  for (uint8_t i = 0; i < 20; ++i) {
    PacketSpec syn = kSyn;
    syn.source = fmt::format("192.0.2.{}", i + 1);
    EXPECT_EQ(send(syn), "pass");
    of_first += decided_by == 0 ? 1 : 0;
  }
  EXPECT_GT(of_first, 0U);
  EXPECT_LT(of_first, 20U);
  EXPECT_EQ(send(kQuery), "pass");
  EXPECT_EQ(send(kQuery, 1), "pass") << "of the connection, whatever port it comes by";
  EXPECT_EQ(send(lb::udp("192.0.2.1", 1, "192.0.2.2", 54)), "denied");
  EXPECT_EQ(rule_rows(), (Strings{"web allow 20", "dns allow 1", "ssh allow 0", "none deny 1"}));
  EXPECT_EQ(ask("rules")["rules"][0]["what"], "tcp from port 0 to any ports 80,443");
}

TEST_F(Filtered, statistics_are_those_of_all_workers) {
  connect(kSyn);
  EXPECT_EQ(send(kQuery), "pass");
  const Json stats = ask("stats");
  EXPECT_EQ(stats["filter"]["begun"], 2);
  EXPECT_EQ(stats["filter"]["established"], 2);
  EXPECT_EQ(stats["connections"]["created"], 2);
  EXPECT_EQ(stats["connections"]["live"], 2);
}

TEST_F(Filtered, connections_are_listed_counted_and_deleted_by_the_port_they_came_by) {
  connect(kSyn);
  EXPECT_EQ(send(kQuery), "pass");
  EXPECT_EQ(send(kLogin, 1), "pass");
  const std::string web = "tcp 192.0.2.10:40000 established";
  const std::string login = "tcp 198.51.100.9:40000 syn_sent";
  const std::string dns = "udp 192.0.2.10:40000 udp";
  EXPECT_EQ(connection_rows(), (Strings{web, login, dns}));
  EXPECT_EQ(connection_rows({{"port", 0}}), (Strings{web, dns}));
  EXPECT_EQ(connection_rows({{"port", 1}}), Strings{login});
  const Json row = ask("connections", {{"port", 1}})["flows"][0];
  EXPECT_EQ(row["server"], "192.0.2.10:22");
  EXPECT_EQ(row["port"], 1);
  const Json count = ask("connections", {{"action", "count"}});
  EXPECT_EQ(count["flows"], 3);
  ASSERT_EQ(count["by"].size(), 3U);
  EXPECT_EQ(count["by"][2], (Json{{"port", 1}, {"state", "syn_sent"}, {"flows", 1}}));
  EXPECT_EQ(refusal("connections", {{"port", 2}}), "there is no port 2; give 0 to 1");
  EXPECT_EQ(refusal("connections", {{"action", "delete"}}),
            "this would delete every connection; give a filter, or all");
  EXPECT_EQ(ask("connections", {{"action", "delete"}, {"port", 0}})["deleted"], 2);
  EXPECT_EQ(connection_rows(), Strings{login});
  EXPECT_EQ(send(answer_to(kSyn, flags::kAck), 1), "denied");
}

TEST_F(Filtered, columns_of_views_are_what_results_have) {
  connect(kSyn);
  const std::array<Json, 4> requests = {
      Json{{"command", "rules"}}, Json{{"command", "connections"}},
      Json{{"command", "connections"}, {"action", "count"}}, Json{{"command", "stats"}}};
  for (const Json& request : requests) {
    const Json answered = answer(request);
    ASSERT_TRUE(answered.contains("view")) << answered;
    for (const Json& block : answered["view"]) {
      if (!block.contains("columns") || !block["rows"].is_string()) continue;
      const Json& rows = answered["result"][Json::json_pointer(block["rows"].get<std::string>())];
      for (const Json& column : block["columns"]) {
        for (const Json& row : rows) {
          EXPECT_TRUE(row.contains(column.get<std::string>())) << request << column << row;
        }
      }
    }
  }
}

TEST_F(Filtered, a_reload_keeps_what_is_still_allowed_with_its_state_and_ends_the_rest) {
  connect(kSyn);
  PacketSpec tls = kSyn;
  tls.destination_port = 443;
  connect(tls);
  EXPECT_EQ(send(kQuery), "pass");
  EXPECT_EQ(send(kLogin, 1), "pass");
  const std::string web =
      "[[rule]]\nname = \"web\"\nfrom = [\"port 0\"]\nprotocol = \"tcp\"\n"
      "ports = [80]\naction = \"allow\"\n";
  write(kFirewall, web + kSsh);
  const Json taken = ask("reload");
  EXPECT_EQ(taken["rules"], 2);
  EXPECT_EQ(taken["rules_before"], 3);
  EXPECT_EQ(taken["connections_ended"], 2);
  EXPECT_EQ(told.back().substr(told.back().find("2 rules")),
            "2 rules, 3 before; 2 connections ended that are not allowed any more");
  EXPECT_EQ(connection_rows(),
            (Strings{"tcp 192.0.2.10:40000 established", "tcp 198.51.100.9:40000 syn_sent"}));
  EXPECT_EQ(send(answer_to(kSyn, flags::kAck), 1), "pass");
  EXPECT_EQ(send(answer_to(tls, flags::kAck), 1), "denied");
  EXPECT_EQ(send(answer_to(kQuery), 1), "denied");
  EXPECT_EQ(send(tls), "denied");
  EXPECT_EQ(rule_rows(), (Strings{"web allow 0", "ssh allow 0", "none deny 3"}))
      << "rules of a reload count from 0";
  const Report report = make_report(std::array{&state(0), &state(1)}, {});
  ASSERT_EQ(report.rules.size(), 3U) << "and are what the run ends with";
  EXPECT_EQ(report.rules[1].name, "ssh");
}

TEST_F(Filtered, a_reload_takes_timeouts_pick_up_and_what_becomes_of_the_rest) {
  PacketSpec middle = kSyn;
  middle.tcp_flags = flags::kAck;
  EXPECT_EQ(send(middle), "pass");
  EXPECT_EQ(ask("connections", {{"action", "delete"}, {"all", true}})["deleted"], 1);
  write(kFirewall + "pick_up = false\nwithout_rule = \"reject\"\n",
        kWeb + kDns + "[timeouts]\nudp = 2\n");
  EXPECT_EQ(ask("reload")["connections_ended"], 0);
  EXPECT_EQ(send(middle), "no_flow");
  EXPECT_EQ(send(kLogin, 1), "rejected");
  EXPECT_EQ(take_own(datapath(decided_by)).size(), 1U) << "a reset";
  EXPECT_EQ(rule_rows().back(), "none reject 1");
  EXPECT_EQ(send(kQuery), "pass");
  now.count += 4;
  EXPECT_EQ(send(answer_to(kQuery), 1), "rejected") << "the connection is over";
}

TEST_F(Filtered, a_file_with_faults_or_with_what_cannot_change_changes_nothing) {
  connect(kSyn);
  write(kFirewall, "[[rule]]\naction = \"allow\"\n[[rule]]\nprotocol = \"tpc\"\naction = \"x\"\n");
  const std::string faults = refusal("reload");
  EXPECT_NE(faults.find(":11: [[rule]] protocol"), std::string::npos) << faults;
  EXPECT_NE(faults.find(":12: "), std::string::npos) << faults;
  write(
      "[firewall]\nwire = true\nhash_seed = 8\nconnections = 999\nlog_per_second = 5\n"
      "stateful = true\n",
      "");
  const std::string refused = refusal("reload");
  for (const char* key : {"hash_seed", "connections", "log_per_second"}) {
    EXPECT_NE(refused.find(key), std::string::npos) << refused;
  }
  EXPECT_EQ(rule_rows(), (Strings{"web allow 1", "dns allow 0", "ssh allow 0", "none deny 0"}));
  EXPECT_EQ(send(answer_to(kSyn, flags::kAck), 1), "pass");
  EXPECT_EQ(ask("stats")["reloads"]["refused"], 2);
}

TEST_F(Filtered, what_rules_log_is_written_as_often_as_is_allowed) {
  for (uint16_t i = 0; i < 6; ++i) {
    PacketSpec syn = kSyn;
    syn.source_port = static_cast<uint16_t>(1'000 + i);
    EXPECT_EQ(send(syn), "pass");
  }
  EXPECT_EQ(send(kQuery), "pass") << "a rule without log";
  EXPECT_TRUE(told.empty()) << "workers write nothing";
  look();
  const size_t bytes = make_frame(kSyn).size();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0], fmt::format("allow by rule web: port 0, tcp 192.0.2.10:1000 -> "
                                 "198.51.100.80:80, {} bytes",
                                 bytes));
  EXPECT_EQ(ask("stats")["log_suppressed"], 2);
  look();
  EXPECT_EQ(told.size(), 4U) << "each once";
}

TEST_F(Filtered, lines_of_rules_that_a_reload_removed_have_their_names) {
  EXPECT_EQ(send(kSyn), "pass");
  write(kFirewall, "");
  EXPECT_EQ(ask("reload")["connections_ended"], 1);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_TRUE(told[0].starts_with("allow by rule web: ")) << told[0];
  look();
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(Filtered, both_directions_of_a_connection_meet_at_one_worker) {
  std::mt19937_64 random(11);
  for (const bool is_ipv6 : {false, true}) {
    for (uint32_t i = 0; i < 100; ++i) {
      PacketSpec syn = kSyn;
      syn.source = fmt::format(fmt::runtime(is_ipv6 ? "2001:db8:1::{}" : "192.0.2.{}"), i + 1);
      if (is_ipv6) syn.destination = "2001:db8:2::80";
      EXPECT_EQ(send(syn, 0, random() % 2), "pass");
      const size_t owner = decided_by;
      EXPECT_EQ(send(answer_to(syn, flags::kSyn | flags::kAck), 1, random() % 2), "pass");
      EXPECT_EQ(decided_by, owner);
      if (is_ipv6) continue;
      const Bytes error = lb::make_icmp_error({.source = "203.0.113.9", .destination = syn.source},
                                              make_frame(syn), 28);
      EXPECT_EQ(send(error, 1, random() % 2), "pass");
      EXPECT_EQ(decided_by, owner) << "an error meets the connection that it is about";
    }
  }
  EXPECT_EQ(begun(), 200U);
  EXPECT_GT(state(0).filter_counters().begun, 50U);
  EXPECT_GT(state(1).filter_counters().begun, 50U);
}

TEST_F(Filtered, fragments_meet_their_first_one) {
  std::mt19937_64 random(12);
  for (lb::FragmentFamily family : {lb::kFragments4, lb::kFragments6}) {
    for (uint16_t id = 0; id < 30; ++id) {
      family.client =
          fmt::format(fmt::runtime(family.is_ipv6() ? "2001:db8:1::{}" : "192.0.2.{}"), id + 1);
      const std::vector<Bytes> parts =
          lb::fragments_of(family, lb::query(family, 2'000), id, random);
      EXPECT_EQ(send(parts[1], 0, random() % 2), "kept");
      const size_t owner = decided_by;
      EXPECT_EQ(send(parts[0], 0, random() % 2), "pass");
      EXPECT_EQ(decided_by, owner);
      EXPECT_EQ(take_own(datapath(owner)), std::vector<Bytes>{parts[1]});
      for (size_t i = 2; i < parts.size(); ++i) {
        EXPECT_EQ(send(parts[i], 0, random() % 2), "pass");
        EXPECT_EQ(decided_by, owner);
      }
    }
  }
  EXPECT_EQ(begun(), 60U);
}

}  // namespace
}  // namespace roost::firewall

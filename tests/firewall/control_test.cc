// The commands of the firewall, reloads and its log.
#include "tests/firewall/filtered.h"

namespace roost::firewall {
namespace {

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

}  // namespace
}  // namespace roost::firewall

// The commands, on two balancers as two workers whose flows are known: what is shown is what is
// there, and what is changed changes on both.
#include "apps/lb/control/control.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

TEST_F(Controlled, stats_add_up_the_workers) {
  make_flows();
  workers_[1].send_from_client({.destination_port = 81});
  send_later_fragments();
  const Json stats = must({{"command", "stats"}});
  EXPECT_EQ(stats["flows"]["created"], 2 * kFlowsOfAWorker);
  EXPECT_EQ(stats["flows"]["live"], 2 * kFlowsOfAWorker);
  EXPECT_EQ(stats["packets"]["received"], 2 * kFlowsOfAWorker + 3);
  EXPECT_EQ(stats["packets"]["sent"], 2 * kFlowsOfAWorker);
  EXPECT_EQ(stats["drops"]["no_service"], 1);
  EXPECT_EQ(stats["fragments"]["waited"], 2);
  EXPECT_EQ(stats["fragments"]["waiting"], 2);
  EXPECT_EQ(stats["workers"].size(), 2U);
  EXPECT_EQ(stats["workers"][0]["flows_created"], kFlowsOfAWorker);
  uint64_t table_bytes = 0;
  for (const Json& table : stats["workers"][0]["tables"])
    table_bytes += table["bytes"].get<uint64_t>();
  EXPECT_EQ(table_bytes, workers_[0].report().table_bytes);
  // The services' numbers are those of both final reports.
  const Json services = must({{"command", "services"}})["services"];
  EXPECT_EQ(services, stats["services"]);
  const Report reports[] = {workers_[0].report(), workers_[1].report()};
  for (size_t s = 0; s < services.size(); ++s) {
    for (size_t b = 0; b < services[s]["backends"].size(); ++b) {
      uint64_t flows = 0;
      uint64_t bytes = 0;
      for (const Report& report : reports) {
        flows += report.services[s].backends[b].counters.flows;
        bytes += report.services[s].backends[b].counters.bytes;
      }
      EXPECT_EQ(services[s]["backends"][b]["flows"], flows);
      EXPECT_EQ(services[s]["backends"][b]["bytes"], bytes);
    }
  }
}

TEST_F(Controlled, live_flows_are_the_living_and_the_dead_of_five_seconds) {
  make_flows();
  const auto live_flows = [&] {
    uint64_t live = 0;
    const Json backends = must({{"command", "backends"}});
    for (const Json& row : backends["backends"]) live += row["live_flows"].get<uint64_t>();
    const Json stats = must({{"command", "stats"}});
    EXPECT_EQ(stats["flows"]["live"], live);
    EXPECT_EQ(stats["workers"][0]["flows_live"].get<uint64_t>() +
                  stats["workers"][1]["flows_live"].get<uint64_t>(),
              live);
    return live;
  };
  const auto pass_until = [&](uint64_t tick) {
    for (TestBalancer& worker : workers_) {
      while (worker.now < Tick{tick}) {
        ++worker.now.count;
        for (int turn = 0; turn < 32; ++turn) worker.idle();
      }
    }
  };
  pass_until(50);
  workers_[0].send_from_client({.source_port = 5'000});
  workers_[1].send_from_client({.source_port = 5'001});
  pass_until(60);  // a SYN lives for 60 s, to the end of the tick
  EXPECT_EQ(live_flows(), 2 * kFlowsOfAWorker + 2);
  pass_until(61 + 5);
  EXPECT_EQ(live_flows(), 2U) << "those that were created later";
  pass_until(111 + 5);
  EXPECT_EQ(live_flows(), 0U);
  expect_sums();
}

TEST_F(Controlled, pages_list_every_flow_once) {
  make_flows();
  for (const int limit : {8, 33, 1'000}) {
    std::set<std::string> seen;
    Json request = {{"command", "flows"}, {"limit", limit}};
    for (int page = 0; page < 1'000; ++page) {
      const Json result = must(request);
      EXPECT_LE(result["flows"].size(), static_cast<size_t>(limit));
      for (const Json& flow : result["flows"]) EXPECT_TRUE(seen.insert(flow.dump()).second) << flow;
      if (!result.contains("cursor")) break;
      request["cursor"] = result["cursor"];
    }
    EXPECT_EQ(seen.size(), 2 * kFlowsOfAWorker) << "limit " << limit;
  }
}

TEST_F(Controlled, a_filter_admits_what_it_says) {
  make_flows();
  EXPECT_EQ(count(Json::object()), 2 * kFlowsOfAWorker);
  EXPECT_EQ(count({{"service", "web6"}}), 2 * kFlowsOfAWorker / 4);
  EXPECT_EQ(count({{"client", "192.0.2.11"}}), 2 * kFlowsOfAWorker / 4);
  EXPECT_EQ(count({{"client", "192.0.2.10/31"}}), 3 * (2 * kFlowsOfAWorker / 4));
  EXPECT_EQ(count({{"client", "2001:db8:1::/48"}}), 2 * kFlowsOfAWorker / 4);
  EXPECT_EQ(count({{"state", "syn_sent"}}), 2 * kFlowsOfAWorker);
  EXPECT_EQ(count({{"state", "closed"}}), 0U);
  const Json by = must({{"command", "flows"}, {"action", "count"}, {"backend", "b1"}})["by"];
  uint64_t b1 = 0;
  for (const Json& row : by) {
    EXPECT_EQ(row["backend"], "b1");
    b1 += row["flows"].get<uint64_t>();
  }
  const Json backends = must({{"command", "backends"}})["backends"];
  uint64_t b1_live = 0;
  for (const Json& row : backends) {
    if (row["name"] == "b1") b1_live += row["live_flows"].get<uint64_t>();
  }
  EXPECT_EQ(b1, b1_live);
  EXPECT_GT(b1, 0U);
  EXPECT_NE(refusal({{"command", "flows"}, {"client", "nobody"}}).find("prefix"),
            std::string::npos);
  EXPECT_NE(refusal({{"command", "flows"}, {"service", "none"}}).find("no such"),
            std::string::npos);
  EXPECT_NE(refusal({{"command", "flows"}, {"cursor", "9.0.0"}}).find("cursor"), std::string::npos);
  EXPECT_NE(refusal({{"command", "flows"}, {"limit", 7}}).find("limit"), std::string::npos);
}

TEST_F(Controlled, deleted_flows_are_gone_in_both_directions_and_counted) {
  make_flows();
  EXPECT_NE(refusal({{"command", "flows"}, {"action", "delete"}}).find("every connection"),
            std::string::npos);
  const Json deleted = must({{"command", "flows"}, {"action", "delete"}, {"client", "192.0.2.11"}});
  EXPECT_EQ(deleted["deleted"], 2 * kFlowsOfAWorker / 4);
  EXPECT_EQ(count({{"client", "192.0.2.11"}}), 0U);
  EXPECT_EQ(count(Json::object()), 3 * (2 * kFlowsOfAWorker / 4));
  EXPECT_EQ(workers_[0].state().tracker().counts().deleted, kFlowsOfAWorker / 4);
  expect_sums();
  EXPECT_EQ(must({{"command", "flows"}, {"action", "delete"}, {"all", true}})["deleted"],
            3 * (2 * kFlowsOfAWorker / 4));
  const Json told = must({{"command", "backends"}});
  for (const Json& row : told["backends"]) {
    EXPECT_EQ(row["live_flows"], 0);
  }
  expect_sums();
}

TEST_F(Controlled, a_drained_backend_keeps_its_flows_and_gets_no_new_ones) {
  std::vector<std::string> before;
  for (uint16_t port = 1; port <= 200; ++port) before.push_back(new_flow(0, port));
  ASSERT_TRUE(std::ranges::find(before, "10.0.0.12") != before.end());
  const Json drained =
      must({{"command", "backend"}, {"action", "drain"}, {"name", "b2"}, {"service", "web"}});
  EXPECT_EQ(drained["changed"].size(), 1U);
  for (uint16_t port = 1; port <= 200; ++port) {
    EXPECT_EQ(new_flow(0, port), before[port - 1U]) << "an old flow moved";
  }
  for (size_t worker = 0; worker < 2; ++worker) {
    for (uint16_t port = 1'000; port < 1'300; ++port) {
      EXPECT_NE(new_flow(worker, port), "10.0.0.12") << "worker " << worker;
    }
  }
  const Json rows = must({{"command", "backends"}, {"service", "web"}})["backends"];
  EXPECT_EQ(rows[1]["state"], "drained");
  EXPECT_EQ(rows[1]["weight"], 0);
  EXPECT_EQ(rows[1]["configured_weight"], 2);

  must({{"command", "backend"}, {"action", "up"}, {"name", "b2"}});
  // Maglev gives every flow the backend that it would have had.
  std::vector<std::string> after;
  must({{"command", "flows"}, {"action", "delete"}, {"all", true}});
  for (uint16_t port = 1; port <= 200; ++port) after.push_back(new_flow(0, port));
  EXPECT_EQ(after, before);
  expect_sums();
}

TEST_F(Controlled, the_next_connection_of_a_closed_one_leaves_a_drained_backend) {
  uint16_t port = 1;
  while (new_flow(0, port) != "10.0.0.12") ++port;
  const auto send = [&](uint8_t flags) {
    return destination_of(workers_[0].send_from_client({.source_port = port, .tcp_flags = flags}));
  };
  must({{"command", "backend"}, {"action", "drain"}, {"name", "b2"}});
  EXPECT_EQ(send(net::tcp::kAck), "10.0.0.12");
  EXPECT_EQ(send(net::tcp::kRst), "10.0.0.12");
  const FlowCounts before = workers_[0].state().tracker().counts();
  const std::string anew = send(net::tcp::kSyn);
  EXPECT_NE(anew, "10.0.0.12");
  EXPECT_EQ(send(net::tcp::kAck), anew);
  EXPECT_EQ(workers_[0].state().tracker().counts().ended, before.ended + 1);
  EXPECT_EQ(workers_[0].state().tracker().counts().created, before.created + 1);
  expect_sums();
}

TEST_F(Controlled, a_backend_is_taken_out_of_all_its_services) {
  EXPECT_EQ(must({{"command", "backend"}, {"action", "down"}, {"name", "b1"}})["changed"].size(),
            4U);
  const Fate dns = workers_[1].send_from_client(
      {.destination = "198.51.100.53", .destination_port = 53, .protocol = net::IpProtocol::kUdp});
  EXPECT_EQ(dns.cause, drop_cause::kNoBackend);
  EXPECT_NE(refusal({{"command", "backend"}, {"action", "up"}, {"name", "b9"}}).find("no backend"),
            std::string::npos);
}

TEST_F(Controlled, a_failing_backend_gets_no_new_flows_and_stays_drained_when_it_is_well) {
  const auto set_health = [&](bool is_well) {
    const Control::CheckedBackend second_of_web{.family = 0, .index = 1};
    const std::string failure = is_well ? "" : "Connection refused";
    return while_serving([&] { return control_->set_health(second_of_web, is_well, failure); });
  };
  const auto row = [&] {
    return must({{"command", "backends"}, {"service", "web"}})["backends"][1];
  };
  EXPECT_FALSE(set_health(false).has_value());
  EXPECT_EQ(row()["state"], "failing");
  EXPECT_EQ(row()["failure"], "Connection refused");
  for (uint16_t port = 1; port < 200; ++port) EXPECT_NE(new_flow(1, port), "10.0.0.12");
  must({{"command", "backend"}, {"action", "up"}, {"name", "b2"}});
  EXPECT_EQ(row()["state"], "failing") << "an operator does not make it well";
  must({{"command", "backend"}, {"action", "drain"}, {"name", "b2"}});
  EXPECT_FALSE(set_health(true).has_value());
  EXPECT_EQ(row()["state"], "drained");
  EXPECT_EQ(row()["failure"], "");
  EXPECT_EQ(row()["weight"], 0);
  must({{"command", "backend"}, {"action", "up"}, {"name", "b2"}});
  EXPECT_EQ(row()["weight"], 2);
}

TEST_F(Controlled, a_timeout_changes_while_packets_flow) {
  EXPECT_EQ(must({{"command", "timeouts"}})["timeouts"]["tcp_syn"], 60.0);
  EXPECT_EQ(
      must({{"command", "timeouts"}, {"name", "tcp_syn"}, {"seconds", 3}})["timeouts"]["tcp_syn"],
      3.0);
  for (TestBalancer& worker : workers_) {
    worker.send_from_client({});
    worker.now = Tick{4};
    worker.idle(1);
    EXPECT_EQ(worker.report().live, 0U) << "it lives for 3 s now";
    EXPECT_EQ(worker.report().flows.expired, 1U);
  }
  EXPECT_NE(refusal({{"command", "timeouts"}, {"name", "udp"}, {"seconds", 0}}).find("no timeout"),
            std::string::npos);
  EXPECT_NE(refusal({{"command", "timeouts"}, {"name", "udp"}}).find("or neither"),
            std::string::npos);
}

TEST_F(Controlled, what_is_no_request_is_refused_in_words) {
  EXPECT_EQ(control_->answer("{"), R"({"error":"the request is not JSON"})");
  const std::pair<Json, const char*> cases[] = {
      {Json::array(), "not a request"},
      {{{"command", 7}}, "not a request"},
      {{{"command", "reboot"}}, "no such command; there are stats"},
      {{{"command", "stats"}, {"verbose", true}}, "stats has no parameter"},
      {{{"command", "flows"}, {"limit", "ten"}}, "limit: give a number"},
      {{{"command", "flows"}, {"service", 1}}, "service: give text"},
      {{{"command", "flows"}, {"all", "yes"}}, "all: give true or false"},
      {{{"command", "flows"}, {"action", "list count"}}, "action: give one of"},
      {{{"command", "backend"}, {"action", "up"}}, "backend needs name"}};
  for (const auto& [request, words] : cases) {
    EXPECT_NE(refusal(request).find(words), std::string::npos) << request << refusal(request);
  }
}

TEST_F(Controlled, an_ended_worker_is_an_error) {
  serving_count_ = 1;
  mailboxes_.mailbox(1).close();
  EXPECT_EQ(refusal({{"command", "stats"}}), "the balancer is ending");
}

}  // namespace
}  // namespace roost::lb

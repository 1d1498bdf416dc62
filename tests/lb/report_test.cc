// The report: the same numbers as text and as JSON, and a sentence for each sum that does not
// close.
#include "apps/lb/control/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

Report some_report() {
  TestBalancer balancer;
  for (uint16_t port = 1; port <= 10; ++port) balancer.send_from_client({.source_port = port});
  balancer.send_from_client({.tcp_flags = net::tcp::kRst});
  return balancer.report();
}

TEST(report, json_has_every_number) {
  Report report = some_report();
  report.run.ports[0].device = "net_\xff";  // whatever a device calls itself, it must be JSON
  report.run.captures.push_back({"a.pcap", 11, 11, 0, 0, "after packet 11"});
  const auto json = nlohmann::json::parse(format_json(report));
  EXPECT_EQ(json["packets"]["received"], 11);
  EXPECT_EQ(json["packets"]["sent"], 10);
  EXPECT_EQ(json["packets"]["originated"], 0);
  EXPECT_EQ(json["packets"]["consumed"], 0);
  EXPECT_EQ(json["flows"]["created"], 10);
  EXPECT_EQ(json["flows"]["live"], 10);
  EXPECT_EQ(json["flows"]["ended"], 0);
  EXPECT_EQ(json["flows"]["expired"], 0);
  EXPECT_EQ(json["flows"]["evicted"], 0);
  EXPECT_EQ(json["drops"]["no_flow"], 1);
  EXPECT_EQ(json["drops"].size(), kDropCauses.size());
  EXPECT_EQ(json["icmp_errors_sent"]["too_big"], 0);
  EXPECT_EQ(json["services"][0]["name"], "web");
  EXPECT_EQ(json["services"][0]["endpoint"], "198.51.100.80:80");
  EXPECT_EQ(json["services"][1]["endpoint"], "[2001:db8:ffff::80]:80");
  uint64_t flows = 0;
  for (const auto& backend : json["services"][0]["backends"]) {
    flows += backend["flows"].get<uint64_t>();
  }
  EXPECT_EQ(flows, 10U);
  EXPECT_EQ(json["captures"][0]["cut"], "after packet 11");
  EXPECT_EQ(json["tables"]["kernel"], report.kernel);
  EXPECT_TRUE(json["broken"].empty());
}

TEST(report, table_bytes_are_those_of_all_tables) {
  TestBalancer balancer;
  const State& state = balancer.state();
  const uint64_t connections =
      state.ipv4().connections().memory_bytes() + state.ipv6().connections().memory_bytes();
  const uint64_t bytes = balancer.report().table_bytes;
  EXPECT_EQ(bytes, state.ipv4().tracker().memory_bytes() + state.ipv6().tracker().memory_bytes());
  // Those of fragments, with 256 places of 2,048 bytes in each family.
  EXPECT_GT(bytes, connections + 2UL * 256 * 2'048);
}

TEST(report, text_has_them_too) {
  const std::string text = format_text(some_report());
  for (const char* part : {"service web", "198.51.100.80:80 tcp", "no_flow", "10 created",
                           "10 live", "cycles a packet", "pages, lookups by the"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

// The first broken sum of a report that is sound but for one change; empty if there is none.
template <class Change>
std::string broken_after(Change&& change) {
  Report report = some_report();
  change(report);
  const std::vector<std::string> broken = broken_sums(report);
  return broken.empty() ? std::string() : broken.front();
}

TEST(report, each_broken_sum_is_a_sentence) {
  EXPECT_EQ(broken_after([](Report&) {}), "");
  EXPECT_EQ(broken_after([](Report& report) { ++report.received; }),
            "packets received + originated + replicated = packets sent + drops by cause + "
            "consumed does not hold: 12 is not 11");
  EXPECT_EQ(broken_after([](Report& report) { ++report.run.replicated; }),
            "packets received + originated + replicated = packets sent + drops by cause + "
            "consumed does not hold: 12 is not 11");
  EXPECT_EQ(broken_after([](Report& report) { ++report.run.consumed; }),
            "packets received + originated + replicated = packets sent + drops by cause + consumed "
            "does not hold: 11 is not 12");
  EXPECT_NE(broken_after([](Report& report) {
              ++report.received;
              ++report.run.originated;
              report.run.consumed += 2;
            }).find("packets of all backends + echo replies + originated"),
            std::string::npos);
  EXPECT_EQ(broken_after([](Report& report) {
              ++report.received;
              ++report.run.consumed;
              ++report.run.originated;
              ++report.run.drops[DropCause::kNoBuffer];
            }),
            "");
  EXPECT_EQ(
      broken_after([](Report& report) { ++report.flows.expired; }),
      "flows created + adopted = live + ended + expired + deleted + evicted + moved does not hold: "
      "9 is not 10");
  EXPECT_NE(broken_after([](Report& report) {
              ++report.services[0].backends[0].counters.flows;
            }).find("flows of all backends"),
            std::string::npos);
  EXPECT_NE(broken_after([](Report& report) {
              ++report.services[0].backends[0].counters.packets;
            }).find("packets of all backends"),
            std::string::npos);
  EXPECT_NE(broken_after([](Report& report) {
              ++report.neighbours.counters.lost_failed;
            }).find("waited for a neighbour"),
            std::string::npos);
  EXPECT_NE(broken_after([](Report& report) { report.is_sound = false; }).find("reply tuple"),
            std::string::npos);
  EXPECT_NE(broken_after([](Report& report) {
              ++report.run.drops[DropCause::kUndecided];
              ++report.received;
            }).find("must be decided"),
            std::string::npos);
  EXPECT_NE(broken_after([](Report& report) {
              ++report.run.drops[net::own_drop_cause(100)];
              ++report.received;
            }).find("a cause of the list"),
            std::string::npos);
  EXPECT_NE(broken_after([](Report& report) {
              report.run.captures.push_back({"a.pcap", 2, 1, 0, 1, {}});
            }).find("a.pcap: 1 of 2 packets were not delivered"),
            std::string::npos);
}

TEST(report, what_ports_refuse_is_a_drop) {
  TestBalancer balancer;
  balancer.send_from_client({});
  node::RunTotals totals;
  totals.ports = {{{.received = 1, .malformed = 2}, {}, "a"},
                  {{.refused = 1, .no_buffer = 3}, {}, "b"}};
  totals.originated = 3;
  const Report report = make_report(balancer.state(), totals);
  EXPECT_EQ(report.run.drops[DropCause::kTxRefused], 1U);
  EXPECT_EQ(report.run.drops[DropCause::kMalformed], 2U);
  EXPECT_EQ(report.run.drops[DropCause::kNoBuffer], 3U);
  EXPECT_EQ(report.received, 3U);
  EXPECT_EQ(report.run.ports[0].received, 3U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

}  // namespace
}  // namespace roost::lb

// The commands about flows, and reloads, while two workers decide packets.
#include "apps/classify/control/control.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/classify/datapath/datapath.h"
#include "roost/openflow/flow_causes.h"
#include "tests/lb/test_packet.h"

namespace roost::classifying {
namespace {

using control::Json;
using lb::make_frame;
using lb::PacketSpec;

const std::string kToml =
    "[classify]\nflows = \"{}\"\nconnections = 100\n[[port]]\n[[port]]\n[[port]]\n";
constexpr const char* kFlows =
    "priority=10,tcp,actions=output:2\npriority=5,ip,actions=output:3\n"
    "table=1,priority=7,udp,actions=drop\n";

class Classified : public testing::Test {
 protected:
  Classified() {
    write_flows(kFlows);
    std::ofstream(path(".toml")) << fmt::format(fmt::runtime(kToml), name() + ".flows");
    ConfigOutcome outcome = read_config(path(".toml"));
    EXPECT_TRUE(outcome.config.has_value());
    config_ = std::move(*outcome.config);
    config_.shared = list_flows(config_, kWorkers);
    control::Control::Config control_config{.function = "classifier",
                                            .commands = command_list(),
                                            .mailboxes = &mailboxes_,
                                            .config_path = path(".toml")};
    std::vector<State*> states;
    for (size_t i = 0; i < kWorkers; ++i) {
      workers_[i] = std::make_unique<Worker>(State::create(config_, i, kWorkers).value());
      Worker& worker = *workers_[i];
      worker.totals.ports.resize(config_.ports.size());
      control_config.workers.push_back(control::worker_handle(
          worker.state, [&worker](node::RunTotals& totals) { totals = worker.totals; }));
      states.push_back(&worker.state);
    }
    control_ = std::make_unique<Control>(config_, std::move(control_config), std::move(states));
  }

  // OpenFlow's port by which a packet leaves, 0 if it is dropped.
  uint16_t send(size_t number, const PacketSpec& packet) {
    std::vector<uint8_t> bytes = make_frame(packet);
    const auto length = static_cast<uint32_t>(bytes.size());
    net::PacketBatch batch;
    batch.push({.data = bytes.data(), .contiguous_bytes = length, .total_bytes = length});
    workers_[number]->datapath.process(batch, Tick{1'000});
    const net::LaneVerdict verdict = batch.verdicts()[0];
    return verdict.is_forward() ? static_cast<uint16_t>(verdict.out_port() + 1) : uint16_t{0};
  }
  void write_flows(const std::string& text) { std::ofstream(path(".flows")) << text; }

  Result<Json> run(const Json& request) {
    std::atomic<bool> is_over = false;
    std::thread serving([&] {
      while (!is_over.load())
        for (size_t i = 0; i < kWorkers; ++i) mailboxes_.mailbox(i).serve();
    });
    Result<Json> result = control_->run(request);
    is_over.store(true);
    serving.join();
    return result;
  }
  Json rules(Json request) {
    request["command"] = "rules";
    const Result<Json> result = run(request);
    EXPECT_TRUE(result.ok()) << request << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.value() : Json();
  }
  std::string refusal(Json request) {
    request["command"] = "rules";
    const Result<Json> result = run(request);
    return result.ok() ? "taken: " + result.value().dump() : result.error().message;
  }
  // "match: packets" of all, in the order of the list.
  std::vector<std::string> listed(const Json& request = Json::object()) {
    std::vector<std::string> rows;
    const Json result = rules(request);
    for (const Json& row : result["rows"])
      rows.push_back(fmt::format("{} {}: {}", row["table"].get<int>(),
                                 row["match"].get<std::string>(), row["packets"].get<uint64_t>()));
    return rows;
  }
  std::string path(const std::string& ending) const { return testing::TempDir() + name() + ending; }

  static constexpr size_t kWorkers = 2;

 private:
  struct Worker {
    explicit Worker(State made) : state(std::move(made)) {}
    State state;
    Datapath datapath{state};
    node::RunTotals totals{};
  };
  static std::string name() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string(test->test_suite_name()) + "." + test->name();
  }

  Config config_;
  node::WorkerMailboxes mailboxes_{kWorkers};
  std::array<std::unique_ptr<Worker>, kWorkers> workers_;
  std::unique_ptr<Control> control_;
};

const PacketSpec kTcp;
const PacketSpec kUdp = lb::udp("192.0.2.1", 5'000, "192.0.2.2", 53);

TEST_F(Classified, flows_are_listed_with_the_counts_of_all_workers) {
  EXPECT_EQ(send(0, kTcp), 2);
  EXPECT_EQ(send(1, kTcp), 2);
  EXPECT_EQ(send(1, kUdp), 3);
  EXPECT_EQ(listed(), (std::vector<std::string>{"0 priority=10,tcp: 2", "0 priority=5,ip: 1",
                                                "1 priority=7,udp: 0"}));
  EXPECT_EQ(listed({{"table", 1}}), std::vector<std::string>{"1 priority=7,udp: 0"});
  EXPECT_EQ(listed({{"text", "tcp"}}), std::vector<std::string>{"0 priority=10,tcp: 2"});
  EXPECT_EQ(listed({{"text", "ip"}}).size(), 3U) << "tcp and udp match no more than ip";
  EXPECT_EQ(listed({{"text", "tcp,tp_dst=0"}}).size(), 0U) << "tcp matches more";
  EXPECT_EQ(listed({{"text", "priority=5,ip"}, {"strict", true}}).size(), 1U);
  const Json count = rules({{"action", "count"}});
  EXPECT_EQ(count["flows"], 3);
  EXPECT_EQ(count["packets"], 3);
}

TEST_F(Classified, lists_come_in_pages) {
  const Json first = rules({{"limit", 2}});
  EXPECT_EQ(first["rows"].size(), 2U);
  const Json second = rules({{"limit", 2}, {"cursor", first["cursor"]}});
  EXPECT_EQ(second["rows"].size(), 1U);
  EXPECT_FALSE(second.contains("cursor"));
  EXPECT_EQ(refusal({{"cursor", "x"}}), "cursor: give that of the page before");
}

TEST_F(Classified, a_flow_is_added_to_all_workers_and_replaces_its_like) {
  EXPECT_EQ(rules({{"action", "add"}, {"text", "priority=20,tcp,actions=output:3"}})["replaced"],
            0);
  for (size_t worker = 0; worker < kWorkers; ++worker) EXPECT_EQ(send(worker, kTcp), 3);
  EXPECT_EQ(rules({{"action", "add"}, {"text", "priority=20,tcp,actions=drop"}})["replaced"], 1);
  for (size_t worker = 0; worker < kWorkers; ++worker) EXPECT_EQ(send(worker, kTcp), 0);
  EXPECT_EQ(rules({{"action", "count"}})["flows"], 4);
}

TEST_F(Classified, a_wrong_flow_changes_nothing_and_says_what_is_wrong) {
  EXPECT_NE(refusal({{"action", "add"}, {"text", "tcp,actions=output:9"}}).find("no such port"),
            std::string::npos);
  EXPECT_NE(refusal({{"action", "add"}, {"text", "tcp"}}).find("actions"), std::string::npos);
  EXPECT_EQ(refusal({{"action", "add"}}),
            "add: give one flow, 'priority=100,tcp,tp_dst=80,actions=output:2'");
  EXPECT_EQ(rules({{"action", "count"}})["flows"], 3);
}

TEST_F(Classified, flows_are_deleted_as_they_are_chosen) {
  EXPECT_EQ(refusal({{"action", "delete"}}), "delete: say which, by a match or --table");
  EXPECT_EQ(rules({{"action", "delete"}, {"text", "tcp"}})["deleted"], 1);
  for (size_t worker = 0; worker < kWorkers; ++worker) EXPECT_EQ(send(worker, kTcp), 3);
  EXPECT_EQ(rules({{"action", "delete"}, {"table", 1}})["deleted"], 1);
  EXPECT_EQ(rules({{"action", "delete"}, {"text", "ip"}})["deleted"], 1);
  EXPECT_EQ(send(0, kTcp), 0);
}

TEST_F(Classified, a_reload_takes_all_flows_and_those_that_stay_keep_their_counts) {
  EXPECT_EQ(send(0, kTcp), 2);
  EXPECT_EQ(send(1, kUdp), 3);
  rules({{"action", "add"}, {"text", "priority=20,udp,actions=drop"}});
  write_flows("priority=10,tcp,actions=output:2\npriority=5,ip,actions=output:2\n");
  const Result<Json> taken = run({{"command", "reload"}});
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken.value()["kept"], 1);
  EXPECT_EQ(taken.value()["flows_before"], 4);
  EXPECT_EQ(send(1, kUdp), 2);
  EXPECT_EQ(send(1, kTcp), 2);
  EXPECT_EQ(listed(), (std::vector<std::string>{"0 priority=10,tcp: 2", "0 priority=5,ip: 1"}));
}

TEST_F(Classified, a_file_with_a_fault_changes_nothing) {
  write_flows(
      "priority=10,tcp,actions=output:1\npriority=10,tcp,actions=output:7\nx,actions=drop\n");
  const Result<Json> refused = run({{"command", "reload"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find(":2: 'output:7'"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find(":3: 'x'"), std::string::npos) << refused.error().message;
  EXPECT_EQ(send(0, kTcp), 2);
  EXPECT_NE(refusal({{"action", "replace"}, {"text", path(".flows")}}).find(":2: 'output:7'"),
            std::string::npos);
  EXPECT_NE(refusal({{"action", "replace"}, {"text", path(".none")}}).find("cannot be read"),
            std::string::npos);
  EXPECT_EQ(listed().size(), 3U);
}

TEST_F(Classified, all_flows_are_replaced_by_those_of_a_file) {
  write_flows("actions=output:2\n");
  EXPECT_EQ(rules({{"action", "replace"}, {"text", path(".flows")}})["flows"], 1);
  for (size_t worker = 0; worker < kWorkers; ++worker) EXPECT_EQ(send(worker, kUdp), 2);
}

TEST_F(Classified, masks_are_those_of_the_flows) {
  EXPECT_EQ(send(0, kTcp), 2);
  const Result<Json> result = run({{"command", "masks"}});
  ASSERT_TRUE(result.ok());
  const Json& masks = result.value()["masks"];
  ASSERT_EQ(masks.size(), 3U);
  EXPECT_EQ(masks[0]["mask"], "eth_type,ip_proto");
  EXPECT_EQ(masks[1]["mask"], "eth_type");
  EXPECT_EQ(result.value()["tables"].size(), 2 * kWorkers);
  EXPECT_EQ(result.value()["tables"][0]["megaflows"], 1);
}

TEST_F(Classified, masks_are_said_in_the_words_of_fields) {
  write_flows(
      "icmp,icmp_code=1,actions=drop\ntcp,tp_dst=0x50/0xfff0,nw_src=10.0.0.0/8,actions=drop\n"
      "ipv6,ipv6_dst=2001:db8::/32,actions=drop\n");
  rules({{"action", "replace"}, {"text", path(".flows")}});
  std::set<std::string> masks;
  const Result<Json> result = run({{"command", "masks"}});
  ASSERT_TRUE(result.ok());
  for (const Json& row : result.value()["masks"]) masks.insert(row["mask"].get<std::string>());
  EXPECT_EQ(masks, (std::set<std::string>{"eth_type,ip_proto,icmp_code",
                                          "eth_type,ipv4_src/0xff000000,ip_proto,tp_dst/0xfff0",
                                          "eth_type,ipv6_dst/0xffffffff000000000000000000000000"}));
}

TEST_F(Classified, statistics_add_up) {
  for (size_t worker = 0; worker < kWorkers; ++worker) send(worker, kTcp);
  const Result<Json> result = run({{"command", "stats"}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value()["pipeline"]["lookups"], 2);
  EXPECT_EQ(result.value()["classifiers"]["packets"], 2);
  EXPECT_EQ(result.value()["tables"]["rules"], 3 * kWorkers);
}

}  // namespace
}  // namespace roost::classifying

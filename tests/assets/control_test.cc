// Lists, the log and reloads, while two workers look at frames.
#include "apps/assets/control/control.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/assets/observed.h"

namespace roost::assets {
namespace {

using control::Json;

class AssetsControlled : public testing::Test {
 protected:
  AssetsControlled() {
    std::remove(log().c_str());
    write_config("networks = [\"0.0.0.0/0\", \"::/0\"]");
    config_ = read_config(path()).config.value_or(Config());
    control::Control::Config control_config{.function = "observer",
                                            .commands = command_list(),
                                            .mailboxes = &mailboxes_,
                                            .config_path = path(),
                                            .is_replay = true};
    std::vector<Observer*> states;
    for (size_t i = 0; i < kWorkers; ++i) {
      workers_.push_back(std::make_unique<Worker>(config_));
      states.push_back(&workers_[i]->observer);
      control_config.workers.push_back(
          control::worker_handle(workers_[i]->observer, [](node::RunTotals&) {}));
    }
    control_ = std::make_unique<Control>(config_, std::move(control_config), std::move(states));
  }

  void write_config(const std::string& keys) {
    std::ofstream(path()) << fmt::format("[assets]\nhosts_max = 100\nlog = \"{}\"\n{}\n[[port]]\n",
                                         log(), keys);
  }
  void show(size_t worker, const PacketSpec& packet, uint64_t tick) {
    EXPECT_EQ(assets::show(workers_[worker]->datapath, make_frame(packet), Tick{tick}), "consumed");
  }
  // What the control says while both workers serve.
  template <class Ask>
  auto while_served(Ask&& ask) {
    std::atomic<bool> is_over = false;
    std::thread serving([&] {
      while (!is_over.load())
        for (size_t i = 0; i < kWorkers; ++i) mailboxes_.mailbox(i).serve();
    });
    auto result = ask();
    is_over.store(true);
    serving.join();
    return result;
  }
  Result<Json> run(const Json& request) {
    return while_served([&] { return control_->run(request); });
  }
  Json list(Json request = Json::object()) {
    request["command"] = "assets";
    const Result<Json> result = run(request);
    EXPECT_TRUE(result.ok()) << request << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.value() : Json();
  }
  // Addresses, sorted.
  std::vector<std::string> addresses(const Json& request) {
    std::vector<std::string> found;
    const Json page = list(request);
    for (const Json& row : page["rows"]) found.push_back(row["address"].get<std::string>());
    std::ranges::sort(found);
    return found;
  }
  std::string refusal(const Json& request) {
    const Result<Json> result = run(request);
    return result.ok() ? "taken: " + result.value().dump() : result.error().message;
  }
  // The log's lines after the control has ended.
  std::vector<std::string> lines() {
    control_.reset();
    std::ifstream file(log());
    std::vector<std::string> found;
    for (std::string line; std::getline(file, line);) found.push_back(line);
    return found;
  }
  static std::string path() { return testing::TempDir() + name() + ".toml"; }
  static std::string log() { return testing::TempDir() + name() + ".jsonl"; }

  static constexpr size_t kWorkers = 2;
  using Texts = std::vector<std::string>;

  struct Worker {
    explicit Worker(const Config& config) : observer(Observer::create(config.observer()).value()) {}
    Observer observer;
    Datapath datapath{observer};
  };
  static std::string name() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string(test->test_suite_name()) + "." + test->name();
  }

  Config config_;
  node::WorkerMailboxes mailboxes_{kWorkers};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Control> control_;
};

PacketSpec tagged(PacketSpec packet, uint16_t vlan) {
  packet.vlan = {vlan};
  return packet;
}

TEST_F(AssetsControlled, what_workers_saw_of_one_host_is_one_row) {
  show(0, tcp("192.0.2.1", 80, kSynAck), 5);
  show(1, tcp("192.0.2.1", 443, kSynAck), 3);
  show(1, tcp("192.0.2.1", 80, kSynAck), 9);
  show(0, tcp("192.0.2.1", 1, net::tcp::kSyn), 7);
  const Json rows = list()["rows"];
  ASSERT_EQ(rows.size(), 1U) << rows.dump(2);
  EXPECT_EQ(rows[0]["first_seen"], "1970-01-01T00:00:03Z");
  EXPECT_EQ(rows[0]["last_seen"], "1970-01-01T00:00:09Z");
  EXPECT_EQ(rows[0]["syn"], "4096:64:1:40:.:QA");
  ASSERT_EQ(rows[0]["services"].size(), 2U);
  EXPECT_EQ(rows[0]["services"][0]["port"], 80);
  EXPECT_EQ(rows[0]["services"][0]["first_seen"], "1970-01-01T00:00:05Z");
  EXPECT_EQ(rows[0]["services"][0]["last_seen"], "1970-01-01T00:00:09Z");
  EXPECT_EQ(rows[0]["services"][1]["port"], 443);
}

TEST_F(AssetsControlled, filters_choose_by_address_vlan_and_port) {
  show(0, tcp("192.0.2.1", 80, kSynAck), 1);
  show(1, tagged(tcp("192.0.2.2", 80, kSynAck), 7), 1);
  PacketSpec ipv6 = tcp("2001:db8::1", 443, kSynAck);
  ipv6.destination = "2001:db8::9";
  show(1, ipv6, 1);
  EXPECT_EQ(addresses({{"network", "192.0.2.0/24"}}), (Texts{"192.0.2.1", "192.0.2.2"}));
  EXPECT_EQ(addresses({{"network", "2001:db8::1"}}), Texts{"2001:db8::1"});
  EXPECT_EQ(addresses({{"vlan", 7}}), Texts{"192.0.2.2"});
  EXPECT_EQ(addresses({{"vlan", 0}}), (Texts{"192.0.2.1", "2001:db8::1"}));
  EXPECT_EQ(addresses({{"port", 443}}), Texts{"2001:db8::1"});
  EXPECT_EQ(refusal({{"command", "assets"}, {"network", "192.0.2.0/33"}}),
            "network: give a prefix like 192.0.2.0/24, or an address");
  EXPECT_EQ(refusal({{"command", "assets"}, {"vlan", 4'096}}),
            "vlan: give a whole number from 0 to 4095");
}

TEST_F(AssetsControlled, a_filter_finds_a_host_whose_port_another_worker_saw) {
  show(0, tcp("192.0.2.1", 80, kSynAck), 1);
  show(1, tcp("192.0.2.1", 443, kSynAck), 1);
  EXPECT_EQ(addresses({{"port", 443}}), Texts{"192.0.2.1"});
  EXPECT_EQ(list({{"port", 443}})["rows"][0]["services"].size(), 2U);
}

TEST_F(AssetsControlled, pages_have_each_host_once) {
  for (int i = 1; i <= 20; ++i) {
    show(0, tcp(fmt::format("192.0.2.{}", i), 1, net::tcp::kAck), 1);
    show(1, tcp(fmt::format("192.0.2.{}", i + 10), 1, net::tcp::kAck), 1);
  }
  std::vector<std::string> found;
  Json request = {{"limit", 7}};
  for (Json page = list(request);; page = list(request)) {
    EXPECT_LE(page["rows"].size(), 7U);
    for (const Json& row : page["rows"]) found.push_back(row["address"].get<std::string>());
    if (!page.contains("cursor")) break;
    request["cursor"] = page["cursor"];
  }
  std::ranges::sort(found);
  EXPECT_EQ(found.size(), 30U);
  EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  for (const char* cursor : {"", "0", "0.", ".0", "2.0", "0.0x", "-1.0", "1.99999999999999999999"})
    EXPECT_EQ(refusal({{"command", "assets"}, {"cursor", cursor}}),
              "cursor: give that of the page before")
        << cursor;
}

TEST_F(AssetsControlled, lines_are_json_each) {
  show(0, tcp("192.0.2.1", 80, kSynAck), 1);
  const Json answer = Json::parse(
      while_served([&] { return control_->answer(R"({"command": "assets", "lines": true})"); }));
  ASSERT_EQ(answer["view"].size(), 1U) << answer.dump(2);
  EXPECT_EQ(Json::parse(answer["view"][0]["text"].get<std::string>())["address"], "192.0.2.1");
}

TEST_F(AssetsControlled, the_log_has_each_host_and_service_once) {
  ASSERT_FALSE(control_->start_log().has_value());
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    show(worker, tcp("192.0.2.1", 80, kSynAck), 1);
    show(worker, tcp("192.0.2.1", 1, net::tcp::kSyn), 2);
  }
  show(1, tcp("192.0.2.1", 443, kSynAck), 3);
  const std::string host = R"("vlan":0,"mac":"02:00:00:00:01:10","address":"192.0.2.1")";
  EXPECT_EQ(lines(), (Texts{R"({"found":"host","time":"1970-01-01T00:00:01Z",)" + host + "}",
                            R"({"found":"service","time":"1970-01-01T00:00:01Z",)" + host +
                                R"(,"protocol":"tcp","port":80})",
                            R"({"found":"syn","time":"1970-01-01T00:00:02Z",)" + host +
                                R"(,"syn":"4096:64:1:40:.:QA"})",
                            R"({"found":"service","time":"1970-01-01T00:00:03Z",)" + host +
                                R"(,"protocol":"tcp","port":443})"}));
}

TEST_F(AssetsControlled, a_log_that_cannot_be_opened_is_said) {
  Config config = config_;
  config.log = testing::TempDir() + "no/such/folder/log";
  AssetLog log(config, {&workers_[0]->observer}, TickTime(1'000'000, true),
               [](control::Severity, std::string_view) {});
  const auto error = log.start();
  ASSERT_TRUE(error.has_value());
  EXPECT_NE(error->message.find("cannot be written"), std::string::npos);
}

TEST_F(AssetsControlled, a_reload_takes_the_networks_and_nothing_else) {
  write_config("networks = [\"198.51.100.0/24\"]");
  ASSERT_TRUE(run({{"command", "reload"}}).ok());
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    show(worker, tcp("192.0.2.1", 80, kSynAck), 1);
    show(worker, tcp("198.51.100.1", 80, kSynAck), 1);
  }
  EXPECT_EQ(addresses(Json::object()), Texts{"198.51.100.1"});
  write_config("services_max = 5");
  EXPECT_NE(refusal({{"command", "reload"}}).find("services_max cannot change"), std::string::npos);
  write_config("networks = 7");
  EXPECT_NE(refusal({{"command", "reload"}}).find(":4: [assets] networks"), std::string::npos);
  show(0, tcp("192.0.2.1", 80, kSynAck), 1);
  EXPECT_EQ(addresses(Json::object()), Texts{"198.51.100.1"});
}

TEST_F(AssetsControlled, statistics_add_up) {
  for (size_t worker = 0; worker < kWorkers; ++worker)
    show(worker, tcp("192.0.2.1", 80, kSynAck), 1);
  const Result<Json> result = run({{"command", "stats"}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value()["frames"]["from_hosts"], 2);
  EXPECT_EQ(result.value()["assets"]["services_found"], 2);
  EXPECT_EQ(result.value()["stock"]["hosts"], 2);
}

// A datagram and its answer meet at one worker, wherever they come in.
TEST(AssetsWorkers, both_directions_of_udp_have_one_owner) {
  Observer observer = Observer::create({.table = {.hosts_max = 9, .services_max = 1}}).value();
  const auto owner_of = [&](const PacketSpec& packet) {
    std::vector<uint8_t> frame = make_frame(packet);
    const auto bytes = static_cast<uint32_t>(frame.size());
    size_t owner = 0;
    for (size_t worker = 0; worker < 4; ++worker) {
      Datapath datapath(observer, node::FlowOwner({.worker_count = 4, .worker = worker}));
      net::PacketBatch batch;
      batch.push({.data = frame.data(), .contiguous_bytes = bytes, .total_bytes = bytes});
      datapath.process(batch, Tick{1});
      if (!batch.verdicts()[0].is_handoff()) owner = owner * 10 + worker;
    }
    return owner;
  };
  for (uint16_t port = 1; port < 20; ++port) {
    const std::string client = fmt::format("192.0.2.{}", port);
    const size_t owner = owner_of(lb::udp(client, port, "192.0.2.200", 53));
    EXPECT_LT(owner, 4U) << "one worker's, the others hand it off";
    EXPECT_EQ(owner, owner_of(lb::udp("192.0.2.200", 53, client, port)));
  }
  EXPECT_EQ(owner_of(tcp("192.0.2.1", 1, net::tcp::kAck)), 123U) << "TCP stays where it came in";
}

}  // namespace
}  // namespace roost::assets

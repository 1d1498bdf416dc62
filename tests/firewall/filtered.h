// A firewall as a wire with its control plane and two workers, for tests.
#pragma once

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

using control::Json;
using lb::make_frame;
using lb::PacketSpec;
namespace flags = net::tcp;
using Strings = std::vector<std::string>;

inline const std::string kFirewall =
    "[firewall]\nwire = true\nhash_seed = 7\nconnections = 1_000\nlog_per_second = 4\n";
inline const std::string kWeb =
    "[[rule]]\nname = \"web\"\nfrom = [\"port 0\"]\nprotocol = \"tcp\"\nports = [80, 443]\n"
    "action = \"allow\"\nlog = true\n";
inline const std::string kDns =
    "[[rule]]\nname = \"dns\"\nfrom = [\"port 0\"]\nprotocol = \"udp\"\nports = [53]\n"
    "action = \"allow\"\n";
inline const std::string kSsh =
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

}  // namespace roost::firewall

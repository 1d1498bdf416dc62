// Control over two balancers, as two workers whose flows are known, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/lb/control/control.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {

inline constexpr uint16_t kFlowsOfAWorker = 400;

class Controlled : public testing::Test {
 protected:
  explicit Controlled(const std::string& toml = test_config())
      : workers_{{TestBalancer(toml), TestBalancer(toml)}} {
    control::Control::Config config{
        .function = "balancer",
        .commands = command_list(),
        .mailboxes = &mailboxes_,
        .config_path = config_path(),
        .tell = [this](control::Severity severity, std::string_view text) {
          events_.push_back(control::event_line(control::LogFormat::kJournal, severity, text, {}));
        }};
    std::vector<State*> states;
    for (TestBalancer& worker : workers_) {
      control::ReadTotals read_totals = [&worker](node::RunTotals& totals) {
        for (size_t i = 0; i < totals.ports.size(); ++i) {
          totals.ports[i].received = worker.totals().ports[i].received;
          totals.ports[i].sent = worker.totals().ports[i].sent;
        }
        totals.drops = worker.totals().drops;
      };
      State& state = worker.state();
      config.workers.push_back(control::worker_handle(state, std::move(read_totals)));
      states.push_back(&state);
    }
    control_ = std::make_unique<Control>(workers_[0].state().config(), std::move(config),
                                         std::move(states));
  }

  // Both workers do nothing but serve requests meanwhile.
  auto while_serving(auto&& ask) {
    std::atomic<bool> is_over = false;
    std::thread serving([&] {
      while (!is_over.load()) {
        for (size_t i = 0; i < serving_count_; ++i) mailboxes_.mailbox(i).serve();
      }
    });
    auto result = ask();
    is_over.store(true);
    serving.join();
    return result;
  }
  Result<Json> run(const Json& request) {
    return while_serving([&] { return control_->run(request); });
  }
  Json must(const Json& request) {
    const Result<Json> result = run(request);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.value() : Json();
  }
  std::string refusal(const Json& request) {
    const Result<Json> result = run(request);
    return result.ok() ? result.value().dump() : result.error().message;
  }

  // Web connections over IPv4 and IPv6 from two clients; worker 1's have other source ports.
  void make_flows() {
    for (uint16_t i = 0; i < kFlowsOfAWorker; ++i) {
      for (uint16_t w = 0; w < 2; ++w) {
        const auto port = static_cast<uint16_t>(1'000 + 2 * i + w);
        if (i % 4 == 0) {
          workers_[w].send_from_client({.source = "2001:db8:1::10",
                                        .destination = "2001:db8:ffff::80",
                                        .source_port = port});
        } else {
          const std::string source = i % 4 == 1 ? "192.0.2.11" : "192.0.2.10";
          workers_[w].send_from_client({.source = source, .source_port = port});
        }
      }
    }
  }
  // One a worker, which waits for its first one.
  void send_later_fragments() {
    std::vector<uint8_t> frame = make_frame({.protocol = net::IpProtocol::kUdp});
    frame[21] = 100;  // its offset, in units of 8 bytes
    fix_ipv4_checksum(frame);
    for (TestBalancer& worker : workers_) EXPECT_TRUE(worker.send({frame, 0, 128, {}}).is_consumed);
  }
  // The backend of a worker's new IPv4 web connection from this port.
  std::string new_flow(size_t worker, uint16_t port) {
    return destination_of(workers_[worker].send_from_client({.source_port = port}));
  }
  void expect_sums() {
    for (TestBalancer& worker : workers_) {
      EXPECT_EQ(broken_sums(worker.report()), std::vector<std::string>());
    }
  }
  uint64_t count(Json filter) {
    filter["command"] = "flows";
    filter["action"] = "count";
    return must(filter)["flows"].get<uint64_t>();
  }

  // What a reload reads; this test's own.
  static std::string config_path() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name() + ".toml";
    std::ranges::replace(name, '/', '_');
    return testing::TempDir() + name;
  }
  Result<Json> reload(const std::string& toml) {
    std::ofstream(config_path()) << toml;
    return run({{"command", "reload"}});
  }

  std::array<TestBalancer, 2> workers_;
  // What was told since the last time, as the journal gets it.
  std::vector<std::string> take_events() { return std::exchange(events_, {}); }

  std::vector<std::string> events_;
  size_t serving_count_ = 2;
  node::WorkerMailboxes mailboxes_{2};
  std::unique_ptr<Control> control_;
};

}  // namespace roost::lb

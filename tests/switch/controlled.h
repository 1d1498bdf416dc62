// Control over a switch of two workers, for tests: frames are decided by either, and both serve
// requests while a command runs.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/switch/control/control.h"
#include "apps/switch/datapath/datapath.h"
#include "roost/bridge/switch_causes.h"
#include "roost/net/headers.h"

namespace roost::switching {

using control::Json;

inline const std::string kAll = "ff:ff:ff:ff:ff:ff";

[[nodiscard]] inline std::string mac_of(uint32_t number) {
  return fmt::format("02:00:00:{:02x}:{:02x}:{:02x}", number >> 16 & 0xFF, number >> 8 & 0xFF,
                     number & 0xFF);
}

struct FrameSpec {
  std::string destination = kAll;
  std::string source{};
  uint16_t in_port = 0;
  uint16_t tag = 0;  // its control information; 0: none
};

class Controlled : public testing::Test {
 protected:
  explicit Controlled(const std::string& toml) {
    ConfigOutcome outcome = parse_config(toml);
    EXPECT_TRUE(outcome.config.has_value()) << toml;
    config_ = std::move(*outcome.config);
    config_.shared = Shared::create(config_).value();
    control::Control::Config control_config{
        .function = "switch",
        .commands = command_list(),
        .mailboxes = &mailboxes_,
        .config_path = config_path(),
        .tell = [this](control::Severity, std::string_view text) { told_ = text; }};
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

  // What becomes of a frame: the ports it leaves by, or why it does not.
  std::string sent(size_t number, const FrameSpec& spec) {
    Worker& worker = *workers_[number];
    std::vector<uint8_t> bytes = bytes_of(spec);
    const auto length = static_cast<uint32_t>(bytes.size() - kHeadroom);
    net::PacketBatch batch;
    batch.push({.data = bytes.data() + kHeadroom,
                .contiguous_bytes = length,
                .total_bytes = length,
                .headroom = kHeadroom,
                .in_port = spec.in_port});
    worker.datapath.process(batch, now_);
    ++worker.totals.ports[spec.in_port].received;
    const net::LaneVerdict verdict = batch.verdicts()[0];
    if (verdict.is_drop()) {
      ++worker.totals.drops[verdict.drop_cause()];
      return std::string(net::drop_cause_name(bridge::kSwitchDropCauses, verdict.drop_cause()));
    }
    net::PortSet ports{};
    if (verdict.is_forward()) {
      ports = net::PortSet::of(verdict.out_port());
    } else {
      for (const net::PortGroup& group : batch.port_groups(0)) ports |= group.ports;
    }
    for (const unsigned port : ports) ++worker.totals.ports[port].sent;
    worker.totals.replicated += ports.count() - 1;
    return fmt::format("{}", fmt::join(ports, " "));
  }

  Result<Json> run(const Json& request) {
    std::atomic<bool> is_over = false;
    std::thread serving([&] {
      while (!is_over.load()) {
        for (size_t i = 0; i < kWorkers; ++i) mailboxes_.mailbox(i).serve();
      }
    });
    Result<Json> result = control_->run(request);
    is_over.store(true);
    serving.join();
    return result;
  }
  Json must(const Json& request) {
    const Result<Json> result = run(request);
    EXPECT_TRUE(result.ok()) << request << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.value() : Json();
  }
  std::string refusal(const Json& request) {
    const Result<Json> result = run(request);
    return result.ok() ? "taken: " + result.value().dump() : result.error().message;
  }
  uint64_t count(Json filter) {
    filter.update({{"command", "fdb"}, {"action", "count"}});
    return must(filter)["entries"];
  }
  // "port kind" of a station that has an entry.
  std::string entry(uint16_t vlan, uint32_t number) {
    const Json rows = must({{"command", "fdb"}, {"vlan", vlan}, {"mac", mac_of(number)}})["rows"];
    if (rows.empty()) return "none";
    const Json& port = rows[0]["port"];
    return (port.is_string() ? port.get<std::string>() : port.dump()) + " " +
           rows[0]["kind"].get<std::string>();
  }
  void add_by_hand(uint16_t vlan, uint32_t number, uint16_t port) {
    must({{"command", "fdb"},
          {"action", "add"},
          {"vlan", vlan},
          {"mac", mac_of(number)},
          {"port", port}});
  }

  // What a reload reads; this test's own.
  static std::string config_path() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    return testing::TempDir() + test->test_suite_name() + "." + test->name() + ".toml";
  }
  Json reloaded(const std::string& toml) {
    std::ofstream(config_path()) << toml;
    return must({{"command", "reload"}});
  }
  std::string refused_reload(const std::string& toml) {
    std::ofstream(config_path()) << toml;
    return refusal({{"command", "reload"}});
  }

  void TearDown() override {
    const Json stats = must({{"command", "stats"}});
    const auto sum = [&](const char* part, std::initializer_list<const char*> names) {
      uint64_t all = 0;
      for (const char* name : names) all += stats[part][name].get<uint64_t>();
      return all;
    };
    EXPECT_EQ(sum("stations", {"learned"}) + sum("fdb", {"added"}),
              sum("stations", {"reclaimed"}) + sum("fdb", {"erased", "entries", "static_entries"}));
  }

  static constexpr size_t kWorkers = 2;
  Tick now_{1'000};
  std::string told_;  // what was told last, as the journal gets it

 private:
  static constexpr uint32_t kHeadroom = 128;
  struct Worker {
    explicit Worker(State made) : state(std::move(made)) {}
    State state;
    Datapath datapath{state};
    node::RunTotals totals{};
  };

  static std::vector<uint8_t> bytes_of(const FrameSpec& spec) {
    std::vector<uint8_t> bytes(kHeadroom);
    for (const std::string& mac : {spec.destination, spec.source}) {
      const net::MacAddress address = net::MacAddress::parse(mac).value();
      bytes.insert(bytes.end(), address.bytes.begin(), address.bytes.end());
    }
    const auto put16 = [&](uint16_t value) {
      bytes.insert(bytes.end(), {static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)});
    };
    if (spec.tag != 0) {
      put16(net::vlan::kCustomer);
      put16(spec.tag);
    }
    put16(0x88B5);  // IEEE's for experiments
    bytes.resize(bytes.size() + 46);
    return bytes;
  }

  Config config_;
  node::WorkerMailboxes mailboxes_{kWorkers};
  std::array<std::unique_ptr<Worker>, kWorkers> workers_;
  std::unique_ptr<Control> control_;
};

}  // namespace roost::switching

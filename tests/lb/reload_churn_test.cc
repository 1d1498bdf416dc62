// Random configurations, one after the other, while connections come, go on, fall silent and end:
// none moves, whatever the files say, and every count closes.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/lb/consistency.h"
#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

constexpr size_t kRounds = 40;
constexpr size_t kNewARound = 60;
constexpr uint64_t kEstablishedTicks = 900;

struct ServiceText {
  std::string head;
  std::string virtual_address;
  std::string client;
  std::vector<std::string> addresses;  // of backends
};
const ServiceText kServices[] = {{"name = \"a\"\naddress = \"198.51.100.80\"",
                                  "198.51.100.80",
                                  "192.0.2.10",
                                  {"10.0.0.11", "10.0.0.12", "10.0.0.13"}},
                                 {"name = \"b\"\naddress = \"198.51.100.81\"",
                                  "198.51.100.81",
                                  "192.0.2.11",
                                  {"10.0.0.11", "10.0.0.12", "10.0.0.13"}},
                                 {"name = \"c\"\naddress = \"2001:db8:ffff::80\"",
                                  "2001:db8:ffff::80",
                                  "2001:db8:1::10",
                                  {"2001:db8:2::11", "2001:db8:2::12"}}};

// What a file says: for each service, if it is there, the weight of each of its backends.
using Drawn = std::map<size_t, std::map<std::string, unsigned>>;

Drawn draw(std::mt19937_64& random) {
  Drawn drawn;
  while (drawn.empty()) {
    for (size_t s = 0; s < std::size(kServices); ++s) {
      if (random() % 4 == 0) continue;
      auto& backends = drawn[s];
      while (backends.empty()) {
        for (const std::string& address : kServices[s].addresses) {
          for (const char* port : {"8080", "8081"}) {
            if (random() % 2 == 0) {
              backends[address + ":" + port] = static_cast<unsigned>(random() % 4);
            }
          }
        }
      }
    }
  }
  return drawn;
}

// Names are drawn too: they are labels.
std::string toml_of(const Drawn& drawn, std::mt19937_64& random) {
  const std::string all = test_config();
  std::string toml = all.substr(0, all.find("[[service]]"));
  for (const auto& [s, backends] : drawn) {
    toml += "[[service]]\n" + kServices[s].head + "\nport = 80\nprotocol = \"tcp\"\nbackends = [\n";
    for (const auto& [endpoint, weight] : backends) {
      const size_t colon = endpoint.rfind(':');
      toml += "  {name = \"n" + std::to_string(random()) + "\", address = \"" +
              endpoint.substr(0, colon) + "\", port = " + endpoint.substr(colon + 1) +
              ", weight = " + std::to_string(weight) + "},\n";
    }
    toml += "]\n";
  }
  return toml;
}

// With all that can be drawn, so that both families have tables.
Drawn everything() {
  Drawn drawn;
  for (size_t s = 0; s < std::size(kServices); ++s) {
    for (const std::string& address : kServices[s].addresses) drawn[s][address + ":8080"] = 1;
  }
  return drawn;
}

class ReloadChurn : public Controlled, public testing::WithParamInterface<uint64_t> {
 protected:
  ReloadChurn() : Controlled(first_toml()) {}

  static std::string first_toml() {
    std::mt19937_64 random(1);
    return toml_of(everything(), random);
  }

  struct Flow {
    size_t worker = 0;
    size_t service = 0;
    uint16_t port = 0;
    uint64_t used_at = 0;

    [[nodiscard]] std::string name() const { return std::to_string(port); }
  };

  Fate send(const Flow& flow, uint8_t flags) {
    const ServiceText& service = kServices[flow.service];
    return workers_[flow.worker].send_from_client({.source = service.client,
                                                   .destination = service.virtual_address,
                                                   .source_port = flow.port,
                                                   .tcp_flags = flags});
  }

  // What the first packet of a connection may meet.
  void begin(const Drawn& file) {
    Flow flow{random_() % 2, random_() % std::size(kServices), next_port_++, ticks_};
    const Fate fate = send(flow, net::tcp::kAck);
    const std::string endpoint = endpoint_of(fate);
    const auto service = file.find(flow.service);
    if (service == file.end()) {
      ASSERT_EQ(endpoint, "no_service");
      return;
    }
    const bool is_weighted = std::ranges::any_of(
        service->second, [](const auto& backend) { return backend.second != 0; });
    if (!is_weighted) {
      ASSERT_EQ(endpoint, "no_backend");
      return;
    }
    ASSERT_TRUE(service->second.contains(endpoint)) << endpoint;
    ASSERT_NE(service->second.at(endpoint), 0U) << endpoint;
    checker_.note(flow.name(), fate);
    // Its backend goes on with it.
    const Ends ends = read_ends(fate.frame);
    const PacketSpec answer = {.destination_mac = "02:00:00:00:00:02",
                               .source = ends.destination,
                               .destination = ends.source,
                               .source_port = ends.destination_port,
                               .destination_port = ends.source_port,
                               .tcp_flags = net::tcp::kAck};
    ASSERT_EQ(workers_[flow.worker].send_from_backend(answer).cause, std::nullopt);
    flows_.push_back(flow);
  }

  // Some go on, some end, some fall silent; those that may have expired are not looked at.
  void go_on() {
    std::vector<Flow> still;
    for (Flow& flow : flows_) {
      if (ticks_ - flow.used_at >= kEstablishedTicks - 1) continue;
      const uint64_t dice = random_() % 8;
      if (dice == 7) continue;  // silent from now on
      if (dice < 5) {
        checker_.note(flow.name(), send(flow, net::tcp::kAck));
        flow.used_at = ticks_;
      }
      if (dice == 0) {
        checker_.note(flow.name(), send(flow, net::tcp::kRst));
        continue;
      }
      still.push_back(flow);
    }
    flows_ = std::move(still);
  }

  void let_time_pass(uint64_t ticks) {
    ticks_ += ticks;
    for (TestBalancer& worker : workers_) {
      worker.now.count = ticks_;
      worker.idle(1'000'000);
    }
  }

  std::mt19937_64 random_{GetParam()};
  ConsistencyChecker checker_;
  std::vector<Flow> flows_;
  uint16_t next_port_ = 1'024;
  uint64_t ticks_ = 0;
};

INSTANTIATE_TEST_SUITE_P(seeds, ReloadChurn, testing::Values(1, 2, 3));

TEST_P(ReloadChurn, moves_no_connection_and_loses_no_count) {
  Drawn file = everything();
  for (size_t round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kNewARound; ++i) begin(file);
    go_on();
    let_time_pass(random_() % 400);
    if (random_() % 4 != 0) {
      Drawn next = draw(random_);
      const Result<Json> outcome = reload(toml_of(next, random_));
      ASSERT_TRUE(outcome.ok()) << outcome.error().message;
      file = std::move(next);
    }
    go_on();
    ASSERT_EQ(checker_.violations(), 0U) << "seed " << GetParam() << ", round " << round;
    expect_sums();
    ASSERT_FALSE(HasFailure()) << "seed " << GetParam() << ", round " << round;
  }
  EXPECT_GT(workers_[0].state().tracker().counts().expired, 100U);
  EXPECT_GT(workers_[0].state().tracker().counts().ended, 10U);

  // When all connections are over, nothing is left of what is not configured.
  let_time_pass(2'000);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reload(toml_of(file, random_)).ok());
  const Json rows = must({{"command", "backends"}})["backends"];
  size_t configured = 0;
  for (const auto& [service, backends] : file) configured += backends.size();
  EXPECT_EQ(rows.size(), configured);
  const BackendRegistry& registry = workers_[1].state().registry();
  EXPECT_LE(registry.families[0].backends.size(), 12U) << "slots are given away again";
  expect_sums();
}

}  // namespace
}  // namespace roost::lb

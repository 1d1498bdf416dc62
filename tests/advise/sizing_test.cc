// Sizes: how many connections are held, which tick holds the timeouts, and that tables take what
// was said before there were any.
#include "apps/advise/sizing.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <string>

#include "apps/advise/advice.h"
#include "apps/advise/report.h"
#include "apps/lb/datapath/state.h"
#include "tests/advise/workloads.h"

namespace roost::advise {
namespace {

constexpr TimeoutSeconds kDefaults = default_timeout_seconds();

TEST(Sizing, connections_that_are_over_are_held_until_timeout_and_sweep) {
  Workload workload = one_million();
  EXPECT_EQ(held_at_peak(workload, kDefaults, 1), 1'000'000 + 50'000 * (10 + 5));
  EXPECT_EQ(held_at_peak(workload, kDefaults, 20), 1'000'000 + 50'000 * (10 + 20));
  workload.mode = lb::Mode::kL2dsr;
  EXPECT_EQ(held_at_peak(workload, kDefaults, 1), 1'000'000 + 50'000 * (120 + 5))
      << "a server's FIN is not seen";
  workload.mode = lb::Mode::kNat;
  workload.udp_share = 1;
  EXPECT_EQ(held_at_peak(workload, kDefaults, 1), 1'000'000 + 50'000 * (60 + 5));
  workload.udp_share = 0.5;
  workload.silent_share = 0.1;
  const double seconds = 0.5 * 65 + 0.05 * 905 + 0.45 * 15;
  EXPECT_NEAR(static_cast<double>(held_at_peak(workload, kDefaults, 1)),
              1'000'000 + 50'000 * seconds, 2);
  workload.held = 7;
  EXPECT_EQ(held_at_peak(workload, kDefaults, 1), 7U) << "what was counted is not estimated";
}

TEST(Sizing, the_shortest_tick_that_holds_the_longest_timeout) {
  EXPECT_EQ(choose_tick(kDefaults).value(), 1.0);
  TimeoutSeconds timeouts = kDefaults;
  timeouts[kTcpEstablished] = 120;
  EXPECT_EQ(choose_tick(timeouts).value(), 0.2);
  timeouts[kUdp] = 1'023;
  EXPECT_EQ(choose_tick(timeouts).value(), 1.0);
  timeouts[kUdp] = 1'024;
  EXPECT_EQ(choose_tick(timeouts).value(), 2.0);
  timeouts[kUdp] = 1e6;
  EXPECT_NE(choose_tick(timeouts).error().message.find("at most 61380"), std::string::npos)
      << choose_tick(timeouts).error().message;
}

TEST(Sizing, workers_share_connections_with_a_quarter_more_room) {
  Workload workload = one_million();
  const Sizing one = size_tables(workload, kDefaults).value();
  EXPECT_EQ(one.held, 1'750'000U);
  EXPECT_EQ(one.connections, 2'190'000U);  // to three digits
  workload.cores = 4;
  const Sizing four = size_tables(workload, kDefaults).value();
  EXPECT_EQ(four.connections, 547'000U);
  EXPECT_EQ(four.bytes, 4 * four.bytes_of_worker());
  EXPECT_LT(four.load, 0.85);
  EXPECT_GT(four.load, 0.5);
  EXPECT_NEAR(four.load * static_cast<double>(four.slots) * 4, 1'750'000, 1);
}

TEST(Sizing, a_single_connection_has_the_least_table_that_there_is) {
  const Workload workload{.connections = 1, .new_per_second = 0, .packets_per_second = 1};
  EXPECT_EQ(size_tables(workload, kDefaults).value().connections, 16U);
}

// Bytes that this process has mapped.
uint64_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * 4'096;
}

struct BytesCase {
  std::string name;
  Families families;
  lb::Mode mode;
  uint64_t connections;
};

#ifdef ROOST_SANITIZED
constexpr bool kIsSanitized = true;  // a sanitizer's own memory counts
#else
constexpr bool kIsSanitized = false;
#endif

class Bytes : public testing::TestWithParam<BytesCase> {};

// Both what the tables say of themselves, and what the process has got.
TEST_P(Bytes, are_what_the_balancer_takes) {
  const BytesCase& one = GetParam();
  const Advice advice = advise({.connections = one.connections,
                                .new_per_second = static_cast<double>(one.connections) / 20,
                                .packets_per_second = static_cast<double>(one.connections),
                                .families = one.families,
                                .mode = one.mode},
                               kDefaults, {})
                            .value();
  const lb::ConfigOutcome outcome = lb::parse_config(format_toml(advice));
  ASSERT_TRUE(outcome.config) << config::describe(outcome.faults.front(), "lb.toml");
  const std::array<net::MacAddress, 1> macs{net::MacAddress{{2, 0, 0, 0, 0, 1}}};
  const uint64_t before = mapped_bytes();
  const auto state = lb::State::create(*outcome.config, macs);
  const uint64_t after = mapped_bytes();
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state.value().ipv4().tracker().memory_bytes(), advice.sizing.family_bytes[0]);
  EXPECT_EQ(state.value().ipv6().tracker().memory_bytes(), advice.sizing.family_bytes[1]);
  const double said = static_cast<double>(advice.sizing.bytes);
  // Of fewer, whole pages of 2 MiB and the services' tables count.
  if (one.connections < 3'000'000 || kIsSanitized) return;
  EXPECT_NEAR(static_cast<double>(after - before), said, said * 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, Bytes,
    testing::Values(BytesCase{"tiny", Families::kIpv4, lb::Mode::kNat, 16},
                    BytesCase{"small", Families::kIpv4, lb::Mode::kNat, 10'000},
                    BytesCase{"both", Families::kBoth, lb::Mode::kNat, 100'000},
                    BytesCase{"large", Families::kIpv4, lb::Mode::kL2dsr, 3'000'000},
                    BytesCase{"large_ipv6", Families::kIpv6, lb::Mode::kNat, 3'000'000},
                    BytesCase{"bound", Families::kIpv4, lb::Mode::kFullnat, 3'000'000},
                    BytesCase{"huge", Families::kIpv4, lb::Mode::kNat, 10'000'000}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace roost::advise

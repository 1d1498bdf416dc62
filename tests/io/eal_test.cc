// DPDK started well, started wrongly, as an ordinary user, and ended without a trace.
#include "roost/io/eal.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "roost/io/clock.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

constexpr uid_t kNobody = 65534;

TEST(EalTest, ports_are_found_by_the_names_of_their_devices) {
  const Result<Eal> eal = Eal::start(eal_arguments({"net_null0", "net_ring0"}));
  ASSERT_TRUE(eal.ok()) << eal.error().message;
  EXPECT_EQ(eal.value().port_count(), 2u);
  EXPECT_EQ(eal.value().find_port("net_null0"), 0u);
  EXPECT_EQ(eal.value().find_port("net_ring0"), 1u);
  EXPECT_FALSE(eal.value().find_port("net_null1").has_value());
}

TEST(EalTest, no_port_is_an_error_that_says_how_to_make_one) {
  const Result<Eal> eal = Eal::start(eal_arguments({}));
  ASSERT_FALSE(eal.ok());
  EXPECT_NE(eal.error().message.find("there is no port; give one, such as --vdev="),
            std::string::npos)
      << eal.error().message;
}

TEST(EalTest, a_device_that_did_not_become_a_port_is_an_error_with_dpdks_reason) {
  const Result<Eal> eal =
      Eal::start(eal_arguments({"net_null0", "net_pcap1,rx_pcap=/no/such/file.pcap"}));
  ASSERT_FALSE(eal.ok());
  EXPECT_NE(eal.error().message.find("--vdev=net_pcap1 did not become a port"), std::string::npos)
      << eal.error().message;
  EXPECT_NE(eal.error().message.find("/no/such/file.pcap"), std::string::npos)
      << eal.error().message;
}

// Where DPDK keeps this process's files. An ordinary user's are in the directory given here.
std::filesystem::path run_directory(const TemporaryDirectory& home) {
  setenv("XDG_RUNTIME_DIR", home.path().c_str(), 1);
  const std::filesystem::path base = geteuid() == 0 ? "/var/run" : home.path();
  return base / "dpdk" / ("roost-" + std::to_string(getpid()));
}

TEST(EalTest, arguments_that_dpdk_refuses_are_an_error_with_its_reason_and_leave_nothing) {
  const TemporaryDirectory home;
  const std::filesystem::path directory = run_directory(home);
  const std::vector<std::string> arguments = {"--no-huge", "--in-memory", "--no-pci"};
  testing::internal::CaptureStdout();  // EAL prints its usage
  const Result<Eal> eal = Eal::start(arguments);
  testing::internal::GetCapturedStdout();
  ASSERT_FALSE(eal.ok());
  EXPECT_NE(eal.error().message.find("not compatible with --in-memory"), std::string::npos)
      << eal.error().message;
  EXPECT_FALSE(std::filesystem::exists(directory)) << directory;
}

TEST(EalTest, nothing_is_printed_and_no_run_directory_stays_behind) {
  const TemporaryDirectory home;
  const std::filesystem::path directory = run_directory(home);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    const Result<Eal> eal = Eal::start(eal_arguments({"net_null0"}));
    EXPECT_TRUE(eal.ok());
    EXPECT_TRUE(std::filesystem::exists(directory)) << directory;
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(std::filesystem::exists(directory)) << directory;
}

// Gives up root for the rest of the process.
bool become_ordinary_user() {
  if (geteuid() != 0) return true;
  return setgroups(0, nullptr) == 0 && setgid(kNobody) == 0 && setuid(kNobody) == 0;
}

TEST(EalTest, an_ordinary_user_replays_a_capture) {
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  write_capture(directory.file("in.pcap"),
                {{1000, numbered_frame(1, 60)}, {2000, numbered_frame(2, 60)}});
  setenv("XDG_RUNTIME_DIR", directory.path().c_str(), 1);
  if (!become_ordinary_user()) {
    std::puts("NOT TESTED: this process cannot become an ordinary user");
    GTEST_SKIP();
  }
  {
    PortRun run({"net_pcap0,rx_pcap=" + directory.file("in.pcap") +
                 ",tx_pcap=" + directory.file("out.pcap")});
    CaptureMerge merge = run.merge({2}, 1000);
    PacketBurst burst;
    while (merge.next(burst)) forward_all(burst, run.ports()[0]);
  }
  EXPECT_NE(geteuid(), 0u);
  EXPECT_EQ(read_capture(directory.file("out.pcap")).size(), 2u);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() / "dpdk"));
}

TEST(ClockTest, ticks_count_from_the_clocks_start_at_their_length) {
  const Eal eal = Eal::start(eal_arguments({"net_null0"})).value();
  const TickClock milliseconds(0.001);
  const TickClock hours(3600.0);
  EXPECT_LT(milliseconds.now().count, 1000u);
  const uint64_t before = read_cycles();
  usleep(50'000);
  const double slept =
      static_cast<double>(read_cycles() - before) / static_cast<double>(cycles_per_second());
  EXPECT_GE(slept, 0.045);
  EXPECT_GE(milliseconds.now().count, 45u);
  EXPECT_EQ(hours.now().count, 0u);
}

TEST(ClockTest, the_seconds_timer_fires_once_a_second) {
  const Eal eal = Eal::start(eal_arguments({"net_null0"})).value();
  SecondsTimer timer;
  EXPECT_FALSE(timer.has_passed());
  usleep(1'100'000);
  EXPECT_TRUE(timer.has_passed());
  EXPECT_FALSE(timer.has_passed());
}

}  // namespace
}  // namespace roost::io

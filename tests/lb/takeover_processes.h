// Processes of which one takes over another one's connections, in one process of the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/lb/takeover/takeover.h"
#include "tests/lb/test_fullnat.h"

namespace roost::lb {

inline constexpr Tick kThen{1'000};         // when the first process is over
inline constexpr unsigned kRouteMark = 77;  // is read from the device that stands for the routes'

class TakeoverTest : public testing::Test {
 protected:
  TakeoverTest() { std::filesystem::remove_all(directory_); }
  ~TakeoverTest() override { std::filesystem::remove_all(directory_); }

  // A process: its configuration, its side of takeovers, and its balancer.
  struct Process {
    Config config;
    RunSeeds seeds;
    std::unique_ptr<TestBalancer> balancer;

    [[nodiscard]] State* state() { return &balancer->state(); }
    [[nodiscard]] Takeover& takeover() { return *config.takeover; }
    [[nodiscard]] std::optional<Error> adopt() {
      State* const states[] = {state()};
      return takeover().adopt(states, [] {});
    }
  };

  [[nodiscard]] Config config_of(const std::string& toml) const {
    ConfigOutcome outcome = parse_config(toml + "\n[lb]\nstate = \"" + directory_ + "\"\n");
    for (const config::Fault& fault : outcome.faults) ADD_FAILURE() << describe(fault, "test");
    return *std::move(outcome.config);
  }

  Result<Process> start(const std::string& toml, bool takes_over) {
    // Who takes over would begin with others.
    const uint64_t own = takes_over ? 100 : 0;
    Process process{config_of(toml),
                    {.owner_seed = 5 + own, .start_cycles = 7 + own, .tick_cycles = 9 + own},
                    {}};
    auto made = Takeover::begin(process.config, takes_over, process.seeds,
                                [this](std::string_view text) { told_ += text; });
    if (!made) return made.error();
    process.config.takeover = std::move(made).value();
    process.balancer = std::make_unique<TestBalancer>(process.config, process.takeover().share(0));
    return process;
  }

  // The first process runs, serves takeovers, and has a connection a port.
  Process first(const std::string& toml, const std::vector<FullnatFamily>& families) {
    Process process = start(toml, false).value();
    process.balancer->now = kThen;
    for (const FullnatFamily& f : families) {
      for (uint16_t port = 40'000; port < 40'032; ++port) {
        sent_.push_back(process.balancer->send_from_client(from_client(f, port)));
        EXPECT_FALSE(sent_.back().cause.has_value());
      }
    }
    serve(process);
    return process;
  }
  void serve(Process& process) {
    Takeover::Hooks hooks{
        .close_sockets = [this] { ++closed_; },
        .open_sockets = [this]() -> std::optional<Error> {
          ++opened_;
          return {};
        },
        .interrupt = [this] { is_interrupted_ = true; },
        .give_routes_away = [this]() -> std::optional<HandedRoutes> {
          if (routes_.empty()) return {};
          return HandedRoutes{FileDescriptor(eventfd(kRouteMark, EFD_CLOEXEC)), routes_};
        },
        .take_routes_back = [this]() -> std::optional<Error> {
          ++routes_back_;
          return {};
        }};
    EXPECT_FALSE(process.takeover().serve(std::move(hooks)));
    while (!std::filesystem::exists(directory_ + "/socket")) std::this_thread::yield();
  }
  // Its main thread, in which workers run until they are interrupted; whether it goes on.
  bool run(Process& process) {
    while (!is_interrupted_.exchange(false)) std::this_thread::yield();
    State* const states[] = {process.state()};
    return process.takeover().goes_on(states);
  }

  // The clients' next packets leave as those before, to the same backends by the same ports.
  void expect_the_same(Process& process, const std::vector<FullnatFamily>& families) {
    process.balancer->now = kThen;
    size_t next = 0;
    for (const FullnatFamily& f : families) {
      for (uint16_t port = 40'000; port < 40'032; ++port) {
        EXPECT_EQ(ends_of(process.balancer->send_from_client(from_client(f, port))),
                  ends_of(sent_[next++]));
      }
    }
    EXPECT_EQ(broken_sums(process.balancer->report()), std::vector<std::string>());
  }

  // In memory where there is such a place, as operators should have it.
  std::string directory_ =
      (std::filesystem::is_directory("/dev/shm") ? "/dev/shm/" : testing::TempDir()) +
      "roost_takeover_test" + std::to_string(getpid());
  std::vector<Fate> sent_;
  std::atomic<int> closed_ = 0;
  std::atomic<int> opened_ = 0;
  std::atomic<int> routes_back_ = 0;
  std::atomic<bool> is_interrupted_ = false;
  std::vector<net::IpAddress> routes_{};  // that the first process has announced
  std::string told_;
  const std::vector<FullnatFamily> both_ = {kFullnat4, kFullnat6};
};

}  // namespace roost::lb

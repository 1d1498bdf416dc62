// Connections that one process adopts from another: from one that runs, and from one that has
// ended.
#include "apps/lb/takeover/takeover.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/lb/proxy_talk.h"

namespace roost::lb {
namespace {

constexpr Tick kThen{1'000};         // when the first process is over
constexpr unsigned kRouteMark = 77;  // is read from the device that stands for the routes'

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

TEST_F(TakeoverTest, connections_go_on_in_another_process_and_both_sums_close) {
  Process one = first(fullnat_config(), both_);
  bool goes_on = true;
  std::thread main([&] { goes_on = run(one); });
  Process two = start(fullnat_config(), true).value();
  EXPECT_EQ(two.seeds.owner_seed, 5U);
  EXPECT_EQ(two.seeds.start_cycles, 7U);
  const auto error = two.adopt();
  main.join();
  ASSERT_FALSE(error.has_value()) << error->message;
  EXPECT_FALSE(goes_on);
  EXPECT_FALSE(two.takeover().take_routes().has_value());
  expect_the_same(two, both_);
  EXPECT_EQ(two.balancer->report().flows.adopted, 64U);
  EXPECT_EQ(one.balancer->report().flows.moved, 64U);
  EXPECT_EQ(one.balancer->report().live, 0U);
  EXPECT_GT(two.takeover().report().pause_microseconds, 0U);
  EXPECT_EQ(broken_sums(one.balancer->report()), std::vector<std::string>());
}

// What they had of the header, they have, though new connections get none any more.
TEST_F(TakeoverTest, clients_with_a_proxy_header_go_on) {
  Process one = start(proxy_config(), false).value();
  one.balancer->now = kThen;
  ProxyTalk told(*one.balancer, kFullnat4, 1'000);
  ProxyTalk silent(*one.balancer, kFullnat6, 1'000);
  told.send(told.start, "hello", kAck, told.start, told.header + "hello");
  told.answer(kAck, told.start + told.bytes() + 5, told.start + 5);
  serve(one);
  std::thread main([&] { EXPECT_FALSE(run(one)); });
  Process two = start(fullnat_config(), true).value();
  EXPECT_FALSE(two.adopt().has_value());
  main.join();
  two.balancer->now = kThen;
  told.balancer = silent.balancer = two.balancer.get();
  told.send(told.start + 5, "world", kAck, told.start + 5 + told.bytes(), "world");
  silent.send(silent.start, "hello", kAck, silent.start, silent.header + "hello");
}

// As many as the environment says; what the pause is of a million, is read from its output.
TEST_F(TakeoverTest, many_connections_go_on_and_their_pause_is_printed) {
  const char* wanted = std::getenv("ROOST_TAKEOVER_CONNECTIONS");
  const size_t count = wanted == nullptr ? 20'000 : std::stoul(wanted);
  const std::string toml =
      test_config("connections = 4_096", "connections = " + std::to_string(count));
  Process one = start(toml, false).value();
  one.balancer->now = kThen;
  for (size_t made = 0; made < count;) {
    std::vector<Arrival> arrivals;
    for (; arrivals.size() < net::kBatchLanesMax && made < count; ++made) {
      arrivals.push_back(
          {.frame = make_frame({.source = "192.0.2." + std::to_string(10 + made / 50'000),
                                .destination = kFullnat4.virtual_address,
                                .source_port = static_cast<uint16_t>(1'024 + made % 50'000)})});
    }
    one.balancer->send_batch(arrivals);
  }
  serve(one);
  std::thread main([&] { EXPECT_FALSE(run(one)); });
  Process two = start(toml, true).value();
  EXPECT_FALSE(two.adopt().has_value());
  main.join();
  two.balancer->now = kThen;
  EXPECT_EQ(two.balancer->report().flows.adopted, count);
  EXPECT_EQ(one.balancer->report().flows.moved, count);
  EXPECT_EQ(broken_sums(two.balancer->report()), std::vector<std::string>());
  std::printf("%zu connections: a pause of %ju us\n", count,
              static_cast<uintmax_t>(two.takeover().report().pause_microseconds));
}

TEST_F(TakeoverTest, announced_routes_go_along_with_their_device) {
  routes_ = {net::IpAddress::parse("198.51.100.80").value(),
             net::IpAddress::parse("2001:db8:ffff::80").value()};
  Process one = first(fullnat_config(), both_);
  std::thread main([&] { EXPECT_FALSE(run(one)); });
  Process two = start(fullnat_config(), true).value();
  EXPECT_TRUE(two.takeover().awaits_connections());
  EXPECT_FALSE(two.adopt().has_value());
  main.join();
  EXPECT_FALSE(two.takeover().awaits_connections());
  const std::optional<HandedRoutes> handed = two.takeover().take_routes();
  ASSERT_TRUE(handed.has_value());
  EXPECT_EQ(handed->addresses, routes_);
  uint64_t mark = 0;
  EXPECT_EQ(read(handed->device.number(), &mark, sizeof(mark)), ssize_t{sizeof(mark)});
  EXPECT_EQ(mark, kRouteMark);
  EXPECT_EQ(routes_back_, 0);
}

TEST_F(TakeoverTest, what_the_store_and_operators_say_is_adopted) {
  Process one = first(fullnat_config(), both_);
  Roster said = next_roster(one.config, {}).value();
  said.settings[{"web", "b1"}] = {.weight = 7, .is_drained = true};
  said.settings[{"web6", "gone"}] = {.weight = 9};
  said.is_node_drained = true;
  said.states[0][1].is_down = true;
  ASSERT_FALSE(one.takeover().note_roster(said).has_value());
  std::thread main([&] { EXPECT_FALSE(run(one)); });
  Process two = start(fullnat_config(), true).value();
  const auto refused = one.takeover().change_roster(said);
  EXPECT_FALSE(two.adopt().has_value());
  main.join();
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(refused->message.find("is taking over"), std::string::npos);
  const Roster& roster = *two.takeover().adopted();
  EXPECT_EQ(roster.settings, said.settings);
  EXPECT_TRUE(roster.is_node_drained);
  EXPECT_TRUE(roster.states[0][0].is_drained_by_store);
  EXPECT_EQ(roster.registry.families[0].backends[0].configured_weight, 7U);
  EXPECT_EQ(roster.registry.families[0].backends[0].weight, 0U);
  EXPECT_EQ(roster.registry.families[0].backends[1].weight, 0U);
  EXPECT_EQ(roster.registry.families[0].backends[2].weight, 1U);
}

TEST_F(TakeoverTest, what_a_reload_cannot_take_is_refused_before_the_other_one_is_disturbed) {
  Process one = first(fullnat_config(), both_);
  std::string other = fullnat_config();
  other.replace(other.find("tick_seconds = 1.0"), 18, "tick_seconds = 2.0");
  const auto refused = start(other, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("tick_seconds cannot change"), std::string::npos);
  EXPECT_NE(start(fullnat_config(), false).error().message.find("goes on"), std::string::npos);
  EXPECT_EQ(closed_, 0);
  expect_the_same(one, both_);
}

TEST_F(TakeoverTest, another_version_of_the_files_is_refused) {
  Process one = first(fullnat_config(), both_);
  const std::string path = directory_ + "/worker0-ipv4";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8);
  file.put(2);
  file.close();
  Config config = config_of(fullnat_config());
  RunSeeds seeds;
  auto made = Takeover::begin(config, true, seeds, [](std::string_view) {});
  ASSERT_TRUE(made.ok());
  const auto memory = made.value()->share(0).lend(0, {});
  ASSERT_FALSE(memory.ok());
  EXPECT_NE(memory.error().message.find("of version 2"), std::string::npos);
  made.value().reset();
  while (opened_ == 0) std::this_thread::yield();
  expect_the_same(one, both_);
}

TEST_F(TakeoverTest, a_directory_that_others_may_write_to_is_refused) {
  std::filesystem::create_directory(directory_);
  std::filesystem::permissions(directory_, std::filesystem::perms::all);
  const auto refused = start(fullnat_config(), false);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("its owner alone"), std::string::npos);
}

TEST_F(TakeoverTest, a_process_goes_on_when_the_one_that_stopped_it_says_nothing) {
  Process one = first(fullnat_config(), both_);
  auto link = HandoverLink::connect(directory_ + "/socket");
  ASSERT_TRUE(link.has_value());
  EXPECT_TRUE(link->send({{"hello", Manifest::kFormat}}));
  EXPECT_TRUE(link->receive(std::chrono::seconds(5)).ok());
  EXPECT_TRUE(link->send({{"stop", true}}));
  std::thread gone([&] {
    EXPECT_TRUE(link->receive(std::chrono::seconds(5)).ok());
    link.reset();
  });
  EXPECT_TRUE(run(one));
  gone.join();
  while (opened_ == 0) std::this_thread::yield();
  EXPECT_EQ(routes_back_, 1);
  expect_the_same(one, both_);
}

TEST_F(TakeoverTest, what_an_ended_process_left_is_adopted_and_its_clock_goes_on) {
  { Process one = first(fullnat_config(), both_); }
  Process two = start(fullnat_config(), true).value();
  EXPECT_EQ(two.seeds.start_cycles, 7U);
  ASSERT_FALSE(two.adopt().has_value());
  EXPECT_EQ(told_, "");
  expect_the_same(two, both_);
  EXPECT_EQ(two.balancer->report().flows.adopted, 64U);
}

TEST_F(TakeoverTest, what_is_not_whole_is_begun_anew_in_words) {
  {
    Process one = first(fullnat_config(), both_);
    // As if it had been killed between the entries of two tables.
    auto& connections = one.balancer->state().ipv6().connections();
    typename std::remove_reference_t<decltype(connections)>::WalkCursor cursor;
    connections.walk(cursor, 1 << 20, [](const auto&, const Connection& connection) {
      const_cast<Connection&>(connection).owner = 77;
      return false;
    });
  }
  Process two = start(fullnat_config(), true).value();
  ASSERT_FALSE(two.adopt().has_value());
  EXPECT_NE(told_.find("begun anew"), std::string::npos);
  EXPECT_EQ(two.balancer->report().flows.adopted, 0U);
  EXPECT_EQ(broken_sums(two.balancer->report()), std::vector<std::string>());
}

TEST_F(TakeoverTest, a_reply_that_leads_nowhere_is_not_adopted) {
  { Process one = first(fullnat_config(), both_); }
  // The first binding that is taken becomes free a second time.
  const std::string path = directory_ + "/worker0-ipv4";
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const size_t at = bytes.find("RoostBnd");
  ASSERT_NE(at, std::string::npos);
  const uint32_t first_free = 0;
  bytes.replace(at + 32, sizeof(first_free), reinterpret_cast<const char*>(&first_free),
                sizeof(first_free));
  std::ofstream(path, std::ios::binary) << bytes;
  Process two = start(fullnat_config(), true).value();
  EXPECT_NE(told_.find("not whole"), std::string::npos);
}

}  // namespace
}  // namespace roost::lb

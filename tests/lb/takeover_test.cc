// Connections that one process adopts from another: from one that runs, and from one that has
// ended.
#include "apps/lb/takeover/takeover.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/lb/nat64_config.h"
#include "tests/lb/proxy_talk.h"
#include "tests/lb/takeover_processes.h"
#include "tests/lb/test_nat64.h"

namespace roost::lb {
namespace {

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

TEST_F(TakeoverTest, connections_between_versions_go_on) {
  const std::vector<FullnatFamily> families = {kFullnat4, kNat64};
  Process one = first(nat64_config(), families);
  std::thread main([&] { EXPECT_FALSE(run(one)); });
  Process two = start(nat64_config(), true).value();
  const auto error = two.adopt();
  main.join();
  ASSERT_FALSE(error.has_value()) << error->message;
  EXPECT_TRUE(two.state()->audit());
  expect_the_same(two, families);
  EXPECT_EQ(two.balancer->report().flows.adopted, 64U);
  const Fate back = two.balancer->send_from_backend(
      answer_to(kNat64, ends_of(sent_.back()), net::tcp::kSyn | net::tcp::kAck));
  EXPECT_EQ(ends_of(back), (Ends{kNat64.virtual_address, kNat64.client, 80, 40'031}));
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

// What a listener reports to queriers and switches, and when. Reports are read from their bytes,
// which listener_messages_test.cc has compared with Scapy's.
#include "roost/l3/multicast_listener.h"

#include <map>

#include "tests/l3/neighbours_fixture.h"
#include "tests/net/message_frames.h"

namespace roost::l3 {
namespace {

// A record of a report; of version 1 as 131 or 132.
struct Told {
  uint16_t port = 0;
  int type = 0;
  net::Ipv6Address group{};

  auto operator<=>(const Told&) const = default;
};

net::Ipv6Address ip6(const std::string& text) { return Ipv6Address::parse(text).value(); }

const net::Ipv6Address kOwnGroup = ip6("ff02::1:ff00:1");
const net::Ipv6Address kVirtualGroup = ip6("ff02::1:ff00:80");
const net::Ipv6Address kLinkLocalGroup = ip6("ff02::1:ff00:7");
constexpr int kListens = 2, kLeft = 3, kJoined = 4, kReport1 = 131, kDone1 = 132;

class MulticastListenerTest : public testing::Test {
 protected:
  static std::vector<ListenedGroup> groups_of(const std::vector<std::string>& addresses) {
    std::vector<LocalAddress> local = {{0, ip("192.0.2.1")}};
    for (const std::string& address : addresses) local.push_back({0, ip(address)});
    return listened_groups(local, 2);
  }
  void make(double tick_seconds = 1) {
    listener_.emplace(MulticastListener::Config{.tick_seconds = tick_seconds, .seed = 7},
                      interfaces_,
                      groups_of({"2001:db8:1::1", "2001:db8:1::80", "2001:db8:1:1::80"}));
  }
  void SetUp() override { make(); }

  std::vector<Told> advance() {
    listener_->advance(now_, outbox_);
    std::vector<Told> told;
    for (size_t i = 0; i < outbox_.frame_count(); ++i) read(outbox_.frame(i), told);
    frames_ = outbox_.frame_count();
    outbox_.clear();
    std::ranges::sort(told);
    return told;
  }
  // Everything that is told within some ticks.
  std::vector<Told> pass(uint64_t ticks) {
    std::vector<Told> all;
    for (uint64_t i = 0; i < ticks; ++i) {
      ++now_.count;
      for (const Told& told : advance()) all.push_back(told);
    }
    return all;
  }
  static void read(const net::Outbox::Frame& frame, std::vector<Told>& told) {
    const std::span<const uint8_t> icmp = frame.bytes.subspan(net::kListenerIcmp6At);
    const auto group_at = [&](size_t at) {
      net::Ipv6Address group;
      std::memcpy(&group, &icmp[at], sizeof group);
      return group;
    };
    if (icmp[0] != 143) {
      told.push_back({frame.out_port, icmp[0], group_at(8)});
      return;
    }
    for (size_t at = 8; at < icmp.size(); at += 20) {
      told.push_back({frame.out_port, icmp[at], group_at(at + 4)});
    }
  }
  static std::vector<Told> all_as(int type) {
    return {{0, type, kOwnGroup}, {0, type, kLinkLocalGroup}, {0, type, kVirtualGroup}};
  }
  void receive(const net::ListenerQuery& query, bool is_copy = false) {
    listener_->receive(0, query, is_copy, now_);
  }

  // The second port has no IPv6 address.
  std::vector<Interface> interfaces_ = {
      {.addresses = {net::IpPrefix::parse("2001:db8:1::1/64").value()},
       .mac = {{2, 0, 0, 0, 0, 7}},
       .vlan = {}},
      {.addresses = {net::IpPrefix::parse("192.0.2.1/24").value()}, .mac = kPortMac, .vlan = {}}};
  net::Outbox outbox_{{.frame_count_max = 100'000, .bytes_max = 16 << 20}};
  std::optional<MulticastListener> listener_;
  Tick now_{1000};
  size_t frames_ = 0;
};

TEST_F(MulticastListenerTest, all_groups_are_reported_at_once_and_once_more) {
  EXPECT_TRUE(advance().empty()) << "no report requested";
  listener_->report_all();
  EXPECT_EQ(advance(), all_as(kJoined)) << "two addresses have one group";
  EXPECT_EQ(frames_, 1U);
  EXPECT_TRUE(advance().empty());
  EXPECT_EQ(pass(1), all_as(kJoined));
  EXPECT_TRUE(pass(300).empty());
}

TEST_F(MulticastListenerTest, a_general_query_is_answered_within_its_time) {
  std::map<uint64_t, int> delays;
  for (int round = 0; round < 200; ++round) {
    receive({false, {}, 10'000});
    uint64_t delay = 0;
    while (advance().empty()) {
      ++now_.count;
      ASSERT_LT(++delay, 10U);
    }
    ++delays[delay];
    EXPECT_TRUE(pass(20).empty()) << "once";
  }
  EXPECT_GT(delays.size(), 8U) << "at a random time";
  receive({false, {}, 10'000});
  EXPECT_EQ(pass(10), all_as(kListens));
  EXPECT_EQ(listener_->counters().queries, 201U);
  EXPECT_EQ(listener_->counters().reports, 201U);
}

// Ticks of two seconds: there is no later one that is soon enough.
TEST_F(MulticastListenerTest, what_is_wanted_within_a_tick_is_answered_at_once) {
  make(2);
  receive({false, {}, 1'900});
  EXPECT_EQ(advance(), all_as(kListens));
}

TEST_F(MulticastListenerTest, a_query_for_a_group_is_answered_for_it_alone) {
  receive({false, kVirtualGroup, 1'000});
  EXPECT_EQ(pass(1), (std::vector<Told>{{0, kListens, kVirtualGroup}}));
  receive({false, ip6("ff02::1:ff00:81"), 1'000});
  listener_->receive(1, {false, kVirtualGroup, 1'000}, false, now_);
  EXPECT_TRUE(pass(5).empty()) << "not listened to";
  receive({false, {}, 0});
  receive({false, kVirtualGroup, 0});
  EXPECT_EQ(pass(5), all_as(kListens)) << "both at once";
}

TEST_F(MulticastListenerTest, a_flood_of_queries_is_answered_once_a_time) {
  for (int i = 0; i < 1'000; ++i) {
    receive({false, {}, 2'000});
    receive({false, kVirtualGroup, 2'000});
  }
  EXPECT_LE(pass(10).size(), 2 * all_as(kListens).size());
}

TEST_F(MulticastListenerTest, version_1_is_spoken_while_its_querier_is_there) {
  receive({true, {}, 1'000});
  EXPECT_EQ(pass(1), all_as(kReport1));
  EXPECT_EQ(frames_, 3U);
  pass(240);
  listener_->report_all();
  EXPECT_EQ(advance(), all_as(kReport1));
  pass(20);
  listener_->report_all();
  EXPECT_EQ(advance(), all_as(kJoined));
}

TEST_F(MulticastListenerTest, a_copy_tells_of_the_version_and_is_not_answered) {
  receive({true, {}, 1'000}, true);
  EXPECT_TRUE(pass(5).empty());
  EXPECT_EQ(listener_->counters().queries, 0U);
  listener_->report_all();
  EXPECT_EQ(advance(), all_as(kReport1));
}

TEST_F(MulticastListenerTest, groups_that_come_and_go_are_told_of) {
  std::vector<ListenedGroup> groups = groups_of({"2001:db8:1::1", "2001:db8:1::90"});
  listener_->exchange_groups(groups);
  EXPECT_TRUE(advance().empty()) << "an exchange alone says nothing";
  listener_->report_all();
  std::vector<Told> expected = {{0, kLeft, kVirtualGroup},
                                {0, kJoined, kOwnGroup},
                                {0, kJoined, kLinkLocalGroup},
                                {0, kJoined, ip6("ff02::1:ff00:90")}};
  EXPECT_EQ(advance(), expected);
  EXPECT_EQ(pass(1), expected);
  listener_->report_all();
  expected.erase(expected.begin());
  EXPECT_EQ(advance(), expected) << "what was left is forgotten";

  receive({true, {}, 0});
  advance();
  pass(2);
  groups = groups_of({"2001:db8:1::1"});
  listener_->exchange_groups(groups);
  pass(2);
  listener_->report_all();
  EXPECT_EQ(pass(1).back(), (Told{0, kDone1, ip6("ff02::1:ff00:90")}));
}

TEST_F(MulticastListenerTest, what_a_querier_waits_for_survives_an_exchange) {
  receive({false, kOwnGroup, 10'000});
  std::vector<ListenedGroup> groups = groups_of({"2001:db8:1::1"});
  listener_->exchange_groups(groups);
  EXPECT_EQ(pass(10), (std::vector<Told>{{0, kListens, kOwnGroup}}));
}

TEST_F(MulticastListenerTest, many_groups_take_many_frames_and_turns) {
  std::vector<std::string> addresses;
  for (int i = 0; i < 5'000; ++i) {
    char text[40];
    std::snprintf(text, sizeof text, "2001:db8:1::%x", 0x1000 + i);
    addresses.emplace_back(text);
  }
  std::vector<ListenedGroup> groups = groups_of(addresses);
  listener_->exchange_groups(groups);
  receive({false, {}, 0});
  size_t told = 0;
  for (int turn = 0; turn < 10; ++turn) {
    told += advance().size();
    EXPECT_LE(frames_, 32U);
  }
  EXPECT_EQ(told, 5'001U);

  // By version 1 each has a frame: a thousand a tick.
  receive({true, {}, 0});
  told = 0;
  ++now_.count;
  for (int turn = 0; turn < 200; ++turn) told += advance().size();
  EXPECT_EQ(told, 1'000U);
}

TEST_F(MulticastListenerTest, what_finds_no_room_is_reported_later) {
  receive({true, {}, 0});
  net::Outbox small({.frame_count_max = 2});
  size_t sent = 0;
  for (int turn = 0; turn < 3; ++turn) {
    listener_->advance(now_, small);
    sent += small.frame_count();
    small.clear();
  }
  EXPECT_EQ(sent, 3U);
}

}  // namespace
}  // namespace roost::l3

// The router's decisions that no kernel router is asked for in the live test: what stays on its
// link, a default neighbour, routes exchanged under traffic, and a wire.
#include "apps/forward/datapath/datapath.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roost/io/eal.h"
#include "tests/io/port_run.h"
#include "tests/lb/test_packet.h"

namespace roost::forward {
namespace {

const std::string kNetwork = R"(
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:1::1/64"]
mac = "02:00:00:00:00:01"
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]
mac = "02:00:00:00:00:02"
mtu = 1280
[[neighbour]]
address = "10.0.0.11"
mac = "02:00:00:00:02:11"
[[neighbour]]
address = "10.0.0.12"
mac = "02:00:00:00:02:12"
[[neighbour]]
address = "2001:db8:2::11"
mac = "02:00:00:00:02:11"
)";
const std::string kRoutes = R"(
[[route]]
prefix = "203.0.113.0/24"
via = "10.0.0.11"
[[route]]
prefix = "2001:db8:9::/48"
via = "2001:db8:2::11"
)";

class ForwardDatapath : public testing::Test {
 protected:
  void make(const std::string& toml) {
    std::vector<std::string> arguments = io::eal_arguments({"net_null0"});
    arguments.insert(arguments.end(), {"-m", "512"});
    Result<io::Eal> eal = io::Eal::start(arguments);
    ASSERT_TRUE(eal.ok()) << eal.error().message;
    eal_.emplace(std::move(eal).value());
    ConfigOutcome outcome = parse_config(toml);
    ASSERT_TRUE(outcome.config.has_value());
    std::shared_ptr<const routing::RoutingTable> table;
    if (!outcome.config->is_wire) {
      auto made = routing::RoutingTable::create(outcome.config->network);
      ASSERT_TRUE(made.ok()) << made.error().message;
      table = std::move(made).value();
    }
    const std::vector<net::MacAddress> macs(2, {{2, 0, 0, 0, 0, 9}});
    auto state = State::create(*outcome.config, macs, table);
    ASSERT_TRUE(state.ok()) << state.error().message;
    state_ = std::make_unique<State>(std::move(state).value());
    datapath_ = std::make_unique<Datapath>(*state_);
  }

  // The verdict of a frame, which is as it would leave.
  net::LaneVerdict send(std::vector<uint8_t>& frame, uint16_t in_port = 0) {
    std::vector<uint8_t> room(frame.size() + 128);
    std::ranges::copy(frame, room.begin() + 128);
    const auto bytes = static_cast<uint32_t>(frame.size());
    net::PacketBatch batch;
    batch.push({room.data() + 128, bytes, bytes, 128, in_port});
    datapath_->process(batch, Tick{1});
    const net::Packet& packet = batch.packets()[0];
    frame.assign(packet.data, packet.data + packet.total_bytes);
    return batch.verdicts()[0];
  }
  net::LaneVerdict send(const lb::PacketSpec& spec) {
    std::vector<uint8_t> frame = lb::make_frame(spec);
    return send(frame);
  }
  std::optional<net::DropCause> cause_of(const lb::PacketSpec& spec) {
    const net::LaneVerdict verdict = send(spec);
    return verdict.is_drop() ? std::optional(verdict.drop_cause()) : std::nullopt;
  }
  // How many frames it made itself, such as ICMP errors.
  size_t take_own() {
    const size_t count = datapath_->outbox().frame_count();
    datapath_->outbox().clear();
    return count;
  }

  std::optional<io::Eal> eal_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Datapath> datapath_;
};

TEST_F(ForwardDatapath, forwards_by_the_longest_prefix_with_a_hop_less) {
  make(kNetwork + kRoutes);
  const lb::PacketSpec spec{.destination = "203.0.113.5"};
  std::vector<uint8_t> frame = lb::make_frame(spec);
  const net::LaneVerdict verdict = send(frame);
  ASSERT_TRUE(verdict.is_forward());
  EXPECT_EQ(verdict.out_port(), 1U);
  lb::PacketSpec left = spec;
  left.ttl = 63;
  left.source_mac = "02:00:00:00:00:02";
  left.destination_mac = "02:00:00:00:02:11";
  EXPECT_EQ(frame, lb::make_frame(left));
  EXPECT_TRUE(send({.source = "2001:db8:1::10", .destination = "2001:db8:9::5"}).is_forward());
  EXPECT_EQ(take_own(), 0U);
}

TEST_F(ForwardDatapath, tells_senders_why_not) {
  make(kNetwork + kRoutes);
  EXPECT_EQ(cause_of({.destination = "198.18.0.1"}), net::DropCause::kNoRoute);
  EXPECT_EQ(cause_of({.destination = "192.0.2.1", .ttl = 1}), net::DropCause::kNotServed);
  EXPECT_EQ(cause_of({.destination = "10.0.0.1"}), net::DropCause::kNotServed);
  EXPECT_EQ(cause_of({.destination = "203.0.113.5", .ttl = 1}), net::DropCause::kTtlExpired);
  EXPECT_EQ(cause_of({.destination = "203.0.113.5", .payload = std::string(1'300, 'x')}),
            net::DropCause::kTooBig);
  EXPECT_EQ(take_own(), 5U);
  EXPECT_EQ(state_->icmp_errors().unreachable, 3U);
  EXPECT_EQ(state_->icmp_errors().time_exceeded, 1U);
  EXPECT_EQ(state_->icmp_errors().too_big, 1U);
}

TEST_F(ForwardDatapath, what_is_of_a_link_stays_there) {
  make(kNetwork + kRoutes);
  EXPECT_EQ(cause_of({.source = "fe80::10", .destination = "2001:db8:9::5"}),
            net::DropCause::kMartian);
  EXPECT_EQ(cause_of({.source = "2001:db8:1::10", .destination = "fe80::11"}),
            net::DropCause::kMartian);
  EXPECT_EQ(cause_of({.source = "169.254.1.1", .destination = "203.0.113.5"}),
            net::DropCause::kMartian);
  EXPECT_EQ(take_own(), 0U);
}

TEST_F(ForwardDatapath, routes_are_exchanged_and_counters_go_on) {
  make(kNetwork + kRoutes);
  ASSERT_TRUE(send({.destination = "203.0.113.5"}).is_forward());
  std::string other = kNetwork + kRoutes;
  other.replace(other.find("via = \"10.0.0.11\""), 17, "via = \"10.0.0.12\"");
  const ConfigOutcome outcome = parse_config(other);
  ASSERT_TRUE(outcome.config.has_value());
  auto table = routing::RoutingTable::create(outcome.config->network, state_->routes().table->hops);
  ASSERT_TRUE(table.ok());
  auto next = routing::WorkerRoutes::of(std::move(table).value());
  state_->routes().exchange(next);
  std::vector<uint8_t> frame = lb::make_frame({.destination = "203.0.113.5"});
  ASSERT_TRUE(send(frame).is_forward());
  EXPECT_EQ(frame[5], 0x12);  // the last byte of its MAC
  uint64_t packets = 0;
  for (const routing::HopState& hop : state_->routes().hops) packets += hop.counters.packets;
  EXPECT_EQ(packets, 2U);
}

TEST_F(ForwardDatapath, a_default_neighbour_stands_for_the_rest_of_the_world) {
  std::string toml = kNetwork;
  toml.replace(toml.find("mtu = 1280"), 10, "default_neighbour_mac = \"02:00:00:00:02:99\"");
  make(toml);
  std::vector<uint8_t> frame = lb::make_frame({.destination = "198.18.0.1"});
  ASSERT_TRUE(send(frame).is_forward());
  EXPECT_EQ(frame[5], 0x99);
  EXPECT_EQ(state_->routes().others.packets, 1U);
}

TEST_F(ForwardDatapath, a_wire_changes_nothing_whatever_it_is) {
  make("[[port]]\n[[port]]\n[forward]\nwire = true\n");
  for (const size_t bytes : {14U, 60U, 1'514U}) {
    const std::vector<uint8_t> sent(bytes, 0xab);
    for (const uint16_t port : {uint16_t{0}, uint16_t{1}}) {
      std::vector<uint8_t> frame = sent;
      const net::LaneVerdict verdict = send(frame, port);
      ASSERT_TRUE(verdict.is_forward());
      EXPECT_EQ(verdict.out_port(), 1U - port);
      EXPECT_EQ(frame, sent);
    }
  }
}

}  // namespace
}  // namespace roost::forward

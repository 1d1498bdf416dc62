// Where frames go: known, unknown, broadcast, reserved; tags between ports; limits and mirrors.
#include "roost/bridge/switching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "roost/bridge/switch_causes.h"
#include "roost/net/byte_order.h"
#include "tests/bridge/stations.h"

namespace roost::bridge {
namespace {

using Tag = std::optional<uint16_t>;  // the control information of a C-tag

// A frame in a buffer of its own, with room for tags.
class Frame {
 public:
  static constexpr size_t kHeadroom = 8;

  Frame(std::string_view destination, std::string_view source, uint16_t in_port, Tag tag = {}) {
    const auto put = [this](const net::MacAddress& mac) {
      bytes_.insert(bytes_.end(), mac.bytes.begin(), mac.bytes.end());
    };
    put(net::MacAddress::parse(destination).value());
    put(net::MacAddress::parse(source).value());
    if (tag) put16(net::vlan::kCustomer), put16(*tag);
    put16(0x88B5);
    bytes_.resize(kHeadroom + 64, 0x5A);
    in_port_ = in_port;
  }
  void set_bytes(size_t bytes) { bytes_.resize(kHeadroom + bytes, 0x5A); }
  [[nodiscard]] net::Packet packet(uint32_t headroom = kHeadroom) {
    const auto bytes = static_cast<uint32_t>(bytes_.size() - kHeadroom);
    return {.data = bytes_.data() + kHeadroom,
            .contiguous_bytes = bytes,
            .total_bytes = bytes,
            .headroom = headroom,
            .in_port = in_port_};
  }

 private:
  void put16(uint16_t value) {
    bytes_.push_back(static_cast<uint8_t>(value >> 8));
    bytes_.push_back(static_cast<uint8_t>(value));
  }

  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(kHeadroom);
  uint16_t in_port_ = 0;
};

// A tag as the tests write it: ":10", or "-" for none.
[[nodiscard]] std::string text_of(uint16_t control) { return ":" + std::to_string(control); }
[[nodiscard]] std::string tag_of(const net::Packet& packet) {
  const uint8_t* type = packet.data + net::ethernet::kAddressesBytes;
  return net::load_be16(type) == net::vlan::kCustomer ? text_of(net::load_be16(type + 2)) : "-";
}

constexpr std::string_view kOne = "02:00:00:00:00:01";
constexpr std::string_view kTwo = "02:00:00:00:00:02";
constexpr std::string_view kThree = "02:00:00:00:00:03";
constexpr std::string_view kAll = "ff:ff:ff:ff:ff:ff";

// Ports 0 and 1 have VLAN 10 untagged, 2 has 10 and 20 tagged, 3 has 20 untagged and 10 tagged; 4
// has nothing.
class SwitchingTest : public testing::Test {
 protected:
  SwitchingTest() {
    config_.ports.resize(5);
    config_.ports[0].vlans = {.untagged = 10, .tagged = {}};
    config_.ports[1].vlans = {.untagged = 10, .tagged = {}};
    config_.ports[2].vlans = {.untagged = std::nullopt, .tagged = {10, 20}};
    config_.ports[3].vlans = {.untagged = 20, .tagged = {10}};
  }

  // What becomes of a frame; `packet_` and `batch_` are as the switch leaves them.
  net::LaneVerdict sent(Frame frame, uint64_t now = 0, uint32_t headroom = Frame::kHeadroom) {
    take_config();
    frame_.emplace(std::move(frame));
    batch_.clear();
    batch_.push(frame_->packet(headroom));
    switching_->process(batch_, Tick{now});
    return batch_.verdicts()[0];
  }
  // What the test has said so far is what holds from now on.
  void take_config() {
    auto rules = std::make_shared<const SwitchRules>(config_);
    if (!switching_) {
      switching_.emplace(std::move(rules), fdb_, rates_, 0, 1);
    } else {
      switching_->exchange(rules);
    }
  }
  net::DropCause dropped(Frame frame, uint64_t now = 0) {
    const net::LaneVerdict verdict = sent(std::move(frame), now);
    EXPECT_TRUE(verdict.is_drop());
    return verdict.is_drop() ? verdict.drop_cause() : net::DropCause::kUndecided;
  }
  // The port of a frame that leaves by one.
  std::optional<uint16_t> port(Frame frame, uint64_t now = 0) {
    const net::LaneVerdict verdict = sent(std::move(frame), now);
    return verdict.is_forward() ? std::optional(verdict.out_port()) : std::nullopt;
  }
  // Of a frame that leaves by several: what each port gets as its tag, "-" for none.
  std::string flooded(Frame frame, uint64_t now = 0) {
    const std::string before = tag_of(frame.packet());
    const net::LaneVerdict verdict = sent(std::move(frame), now);
    if (verdict.is_forward())
      return std::to_string(verdict.out_port()) + tag_of(batch_.packets()[0]);
    if (!verdict.is_replicated()) return "dropped";
    std::vector<std::string> found;
    for (const net::PortGroup& group : batch_.port_groups(0)) {
      std::string tag = group.popped != 0 ? "-" : before;
      if (group.pushed.count != 0) tag = text_of(group.pushed.tags[0].control);
      for (const unsigned out : group.ports) found.push_back(std::to_string(out) + tag);
    }
    std::ranges::sort(found);
    std::string text;
    for (const std::string& one : found) text += (text.empty() ? "" : " ") + one;
    return text;
  }

  SwitchConfig config_;
  Fdb fdb_ = Fdb::create(fdb_config(100'000, 5)).value();
  FloodRates rates_{5};
  std::optional<Switching> switching_;
  std::optional<Frame> frame_;
  net::PacketBatch batch_;
};

TEST_F(SwitchingTest, an_unknown_station_is_looked_for_in_its_vlan_and_then_known) {
  EXPECT_EQ(flooded({kTwo, kOne, 0}), "1- 2:10 3:10");
  EXPECT_EQ(port({kOne, kTwo, 1}), 0);
  EXPECT_EQ(port({kTwo, kOne, 0}), 1);
  EXPECT_EQ(switching_->counters().known_unicast, 2U);
  EXPECT_EQ(switching_->counters().unknown_unicast, 1U);
  EXPECT_EQ(switching_->learn_counters().learned, 2U);
}

TEST_F(SwitchingTest, broadcast_and_multicast_leave_by_all_other_ports_of_the_vlan) {
  EXPECT_EQ(flooded({kAll, kOne, 2, 10}), "0- 1- 3:10");
  EXPECT_EQ(flooded({"01:00:5e:00:00:fb", kOne, 2, 20}), "3-");
  EXPECT_EQ(switching_->counters().broadcast, 1U);
  EXPECT_EQ(switching_->counters().multicast, 1U);
}

TEST_F(SwitchingTest, a_station_of_two_vlans_is_two) {
  static_cast<void>(sent({kAll, kOne, 2, 10}));
  static_cast<void>(sent({kAll, kOne, 3}));
  EXPECT_EQ(flooded({kOne, kTwo, 0}), "2:10");
  EXPECT_EQ(port({kOne, kTwo, 2, 20}), 3);
}

TEST_F(SwitchingTest, tags_are_the_ports_and_priorities_are_kept) {
  static_cast<void>(sent({kAll, kTwo, 2, 10}));
  EXPECT_EQ(flooded({kTwo, kOne, 0}), "2:10");
  EXPECT_EQ(flooded({kTwo, kOne, 0, 0xA000}), "2:" + std::to_string(0xA000 | 10))
      << "a tag with a priority only counts as none";
  EXPECT_EQ(flooded({kTwo, kOne, 3, 0x600A}), "2:" + std::to_string(0x600A));
  EXPECT_EQ(flooded({kOne, kTwo, 2, 0xE00A}), "3:" + std::to_string(0xE00A));
  static_cast<void>(sent({kAll, kThree, 1}));
  EXPECT_EQ(flooded({kThree, kTwo, 2, 0xE00A}), "1-");
}

TEST_F(SwitchingTest, a_vlan_that_the_port_has_not_is_dropped) {
  EXPECT_EQ(dropped({kAll, kOne, 0, 20}), net::DropCause::kWrongVlan);
  EXPECT_EQ(dropped({kAll, kOne, 2}), net::DropCause::kWrongVlan);
  EXPECT_EQ(dropped({kAll, kOne, 0, 0x0FFF}), net::DropCause::kWrongVlan);
  EXPECT_EQ(dropped({kAll, kOne, 4}), net::DropCause::kWrongVlan);
  EXPECT_EQ(fdb_.write().size(), 0U) << "nothing is learned from them";
}

TEST_F(SwitchingTest, malformed_frames_and_senders_are_dropped) {
  EXPECT_EQ(dropped({kTwo, "03:00:00:00:00:01", 0}), kBadSource);
  EXPECT_EQ(dropped({kTwo, "00:00:00:00:00:00", 0}), kBadSource);
  Frame runt{kTwo, kOne, 0};
  runt.set_bytes(13);
  EXPECT_EQ(dropped(runt), net::DropCause::kTruncated);
  Frame cut_tag{kTwo, kOne, 0, 10};
  cut_tag.set_bytes(17);
  EXPECT_EQ(dropped(cut_tag), net::DropCause::kTruncated);
  EXPECT_EQ(fdb_.write().size(), 0U);
}

TEST_F(SwitchingTest, reserved_groups_are_not_forwarded_but_for_bpdus) {
  EXPECT_EQ(flooded({"01:80:c2:00:00:00", kOne, 0}), "1- 2:10 3:10");
  for (const std::string_view group :
       {"01:80:c2:00:00:01", "01:80:c2:00:00:0e", "01:80:c2:00:00:0f"})
    EXPECT_EQ(dropped({group, kOne, 0}), kLinkLocal);
  EXPECT_EQ(flooded({"01:80:c2:00:00:10", kOne, 0}), "1- 2:10 3:10");
  config_.drops_bpdus = true;
  EXPECT_EQ(dropped({"01:80:c2:00:00:00", kOne, 0}), kBpdu);
}

TEST_F(SwitchingTest, a_frame_never_leaves_by_the_port_it_came_by) {
  static_cast<void>(sent({kAll, kOne, 0}));
  EXPECT_EQ(dropped({kOne, kTwo, 0}), kSamePort);
  config_.ports[3].vlans.tagged = {10, 30};
  EXPECT_EQ(dropped({kAll, kOne, 3, 30}), kNoOtherPort);
}

TEST_F(SwitchingTest, a_station_that_is_silent_is_looked_for_again) {
  static_cast<void>(sent({kAll, kOne, 0}, 0));
  EXPECT_EQ(port({kOne, kTwo, 1}, kAgeingTicks / 2), 0);
  EXPECT_EQ(flooded({kOne, kTwo, 1}, kAgeingTicks), "0- 2:10 3:10");
}

TEST_F(SwitchingTest, a_port_that_has_lost_a_vlan_gets_none_of_its_frames_even_for_known_stations) {
  static_cast<void>(sent({kAll, kOne, 1}));
  ASSERT_EQ(port({kOne, kTwo, 0}), 1);
  config_.ports[1].vlans = {.untagged = 20, .tagged = {}};
  EXPECT_EQ(flooded({kOne, kTwo, 0}), "2:10 3:10") << "it is unknown";
}

TEST_F(SwitchingTest, a_station_is_unknown_after_any_time_without_frames) {
  for (uint64_t gap = kAgeingTicks; gap < 5 * kAgeingTicks; gap += kAgeingTicks / 16) {
    fdb_ = Fdb::create(fdb_config(100'000, 5)).value();
    switching_.reset();
    ASSERT_TRUE(fdb_.write().add_static(FdbKey(10, net::MacAddress::parse(kThree).value()), 1));
    static_cast<void>(sent({kAll, kOne, 0}, 0));
    ASSERT_EQ(flooded({kOne, kTwo, 1}, gap), "0- 2:10 3:10") << gap;
    ASSERT_EQ(port({kThree, kTwo, 0}, gap), 1) << gap;
    const LearnCounters& counters = switching_->learn_counters();
    ASSERT_EQ(counters.learned - counters.reclaimed + 1, fdb_.write().size()) << gap;
  }
}

TEST_F(SwitchingTest, static_stations_have_their_port_or_none) {
  const FdbKey fixed(10, net::MacAddress::parse(kOne).value());
  const FdbKey banned(10, net::MacAddress::parse(kThree).value());
  ASSERT_TRUE(fdb_.write().add_static(fixed, 1));
  ASSERT_TRUE(fdb_.write().add_static(banned, FdbValue::kNoPort));
  EXPECT_EQ(port({kOne, kTwo, 0}, 100 * kAgeingTicks), 1);
  EXPECT_EQ(dropped({kThree, kTwo, 0}), kStaticDrop);
  EXPECT_EQ(dropped({kTwo, kThree, 0}), kStaticDrop);
}

TEST_F(SwitchingTest, frames_of_stations_without_room_are_forwarded_unless_the_port_drops_them) {
  Fdb::Config small = fdb_config(100'000, 5);
  small.learn_max[0] = 1;
  fdb_ = Fdb::create(small).value();
  static_cast<void>(sent({kAll, kOne, 0}));
  EXPECT_EQ(flooded({kAll, kTwo, 0}), "1- 2:10 3:10");
  config_.ports[0].drops_not_learned = true;
  EXPECT_EQ(dropped({kAll, kTwo, 0}), kNotLearned);
  EXPECT_EQ(flooded({kAll, kOne, 0}), "1- 2:10 3:10") << "known ones are not";
}

TEST_F(SwitchingTest, what_is_flooded_has_a_limit_a_second_and_a_kind) {
  config_.ports[0].limits = {2, std::nullopt, 1};
  for (uint64_t second = 5; second < 8; ++second) {
    EXPECT_EQ(flooded({kAll, kOne, 0}, second), "1- 2:10 3:10");
    EXPECT_EQ(flooded({kAll, kOne, 0}, second), "1- 2:10 3:10");
    EXPECT_EQ(dropped({kAll, kOne, 0}, second), kBroadcastStorm);
    EXPECT_EQ(flooded({kTwo, kOne, 0}, second), "1- 2:10 3:10");
    EXPECT_EQ(dropped({kTwo, kOne, 0}, second), kUnknownUnicastStorm);
    EXPECT_EQ(flooded({"01:00:5e:00:00:fb", kOne, 0}, second), "1- 2:10 3:10");
    EXPECT_EQ(flooded({kAll, kThree, 1}, second), "0- 2:10 3:10") << "other ports have none";
  }
}

TEST_F(SwitchingTest, a_mirror_gets_what_its_ports_receive_and_send_as_it_came) {
  config_.mirror = Mirror{.to = 4, .ports = net::PortSet::of(1), .vlans = {}};
  config_.mirror->vlans.resize(kVlanMax + 1);
  EXPECT_EQ(flooded({kAll, kOne, 0}), "1- 2:10 3:10 4-");
  EXPECT_EQ(flooded({kOne, kTwo, 1}), "0- 4-");
  EXPECT_EQ(flooded({kTwo, kThree, 2, 10}), "1- 4:10");
  EXPECT_EQ(flooded({kOne, kThree, 2, 10}), "0-") << "neither came nor leaves by port 1";
  config_.mirror->ports = {};
  config_.mirror->vlans[20] = true;
  EXPECT_EQ(flooded({kAll, kOne, 2, 20}), "3- 4:20");
  EXPECT_EQ(switching_->counters().mirrored, 4U);
}

TEST_F(SwitchingTest, a_buffer_without_room_for_a_tag_is_dropped) {
  static_cast<void>(sent({kAll, kTwo, 2, 10}));
  const net::LaneVerdict verdict = sent({kTwo, kOne, 0}, 0, 3);
  ASSERT_TRUE(verdict.is_drop());
  EXPECT_EQ(verdict.drop_cause(), net::DropCause::kNoHeadroom);
  EXPECT_EQ(switching_->counters().known_unicast, 0U) << "it was not sent";
}

TEST_F(SwitchingTest, a_frame_leaves_by_no_port_whose_mtu_it_exceeds) {
  const auto of_bytes = [](std::string_view to, uint16_t in_port, Tag tag, size_t payload_bytes) {
    Frame frame(to, in_port == 0 ? kOne : kTwo, in_port, tag);
    frame.set_bytes(net::ethernet::kHeaderBytes + (tag ? net::vlan::kTagBytes : 0) + payload_bytes);
    return frame;
  };
  EXPECT_EQ(flooded(of_bytes(kAll, 0, {}, 1500)), "1- 2:10 3:10");
  EXPECT_EQ(dropped(of_bytes(kAll, 0, {}, 1501)), net::DropCause::kTooBig);
  EXPECT_EQ(port(of_bytes(kOne, 2, 10, 1500)), 0) << "its tag does not count";
  EXPECT_EQ(dropped(of_bytes(kOne, 2, 10, 1501)), net::DropCause::kTooBig);
  config_.ports[3].mtu = 9000;
  EXPECT_EQ(flooded(of_bytes(kAll, 0, {}, 9000)), "3:10") << "the others are left out";
  EXPECT_EQ(dropped(of_bytes(kAll, 0, {}, 9001)), net::DropCause::kTooBig);
  config_.mirror = Mirror{.to = 4, .ports = net::PortSet::of(0), .vlans = std::vector<bool>(4'095)};
  EXPECT_EQ(flooded(of_bytes(kAll, 0, {}, 1500)), "1- 2:10 3:10 4-");
  EXPECT_EQ(flooded(of_bytes(kAll, 0, {}, 1501)), "3:10") << "nor does the mirror get it";
}

TEST_F(SwitchingTest, a_batch_is_decided_by_what_was_known_before_it) {
  take_config();
  Frame first{kTwo, kOne, 0};
  Frame second{kOne, kTwo, 1};
  Frame third{"01:80:c2:00:00:0e", kTwo, 1};
  batch_.push(first.packet());
  batch_.push(third.packet());
  batch_.push(second.packet());
  switching_->process(batch_, Tick{0});
  EXPECT_TRUE(batch_.verdicts()[0].is_replicated());
  EXPECT_TRUE(batch_.verdicts()[1].is_drop());
  EXPECT_TRUE(batch_.verdicts()[2].is_replicated());
  EXPECT_EQ(port({kTwo, kOne, 0}), 1);
}

}  // namespace
}  // namespace roost::bridge

// Outbox: frames in their order, and a bound in frames and in bytes.
#include "roost/net/outbox.h"

#include <gtest/gtest.h>

#include <vector>

namespace roost::net {
namespace {

std::vector<uint8_t> bytes_of(const Outbox::Frame& frame) {
  return {frame.bytes.begin(), frame.bytes.end()};
}

TEST(Outbox, frames_come_out_in_their_order_whether_copied_or_written_in_place) {
  Outbox outbox;
  EXPECT_TRUE(outbox.is_empty());
  const std::vector<uint8_t> first = {1, 2, 3};
  ASSERT_TRUE(outbox.send(4, first));
  const std::span<uint8_t> room = outbox.reserve(5, 2);
  ASSERT_EQ(room.size(), 2u);
  room[0] = 8;
  room[1] = 9;
  ASSERT_EQ(outbox.frame_count(), 2u);
  EXPECT_EQ(outbox.frame(0).out_port, 4);
  EXPECT_EQ(bytes_of(outbox.frame(0)), first);
  EXPECT_EQ(outbox.frame(1).out_port, 5);
  EXPECT_EQ(bytes_of(outbox.frame(1)), (std::vector<uint8_t>{8, 9}));
  EXPECT_EQ(outbox.counters().accepted, 2u);
  EXPECT_EQ(outbox.counters().refused, 0u);
}

TEST(Outbox, refuses_one_frame_too_many_and_has_room_again_after_clear) {
  Outbox outbox({.frame_count_max = 2, .bytes_max = 100});
  const std::vector<uint8_t> frame(10, 7);
  EXPECT_TRUE(outbox.send(0, frame));
  EXPECT_TRUE(outbox.send(0, frame));
  EXPECT_FALSE(outbox.send(0, frame));
  EXPECT_EQ(outbox.frame_count(), 2u);
  outbox.clear();
  EXPECT_TRUE(outbox.is_empty());
  EXPECT_TRUE(outbox.send(1, frame));
  EXPECT_EQ(bytes_of(outbox.frame(0)), frame);
  EXPECT_EQ(outbox.counters().accepted, 3u);
  EXPECT_EQ(outbox.counters().refused, 1u);
}

TEST(Outbox, refuses_one_byte_too_many_and_takes_a_smaller_frame_still) {
  Outbox outbox({.frame_count_max = 10, .bytes_max = 100});
  EXPECT_TRUE(outbox.send(0, std::vector<uint8_t>(60)));
  EXPECT_FALSE(outbox.send(0, std::vector<uint8_t>(41)));
  EXPECT_TRUE(outbox.reserve(0, 41).empty());
  EXPECT_TRUE(outbox.send(0, std::vector<uint8_t>(40)));
  EXPECT_FALSE(outbox.send(0, std::vector<uint8_t>(1)));
  EXPECT_EQ(outbox.counters().refused, 3u);
}

}  // namespace
}  // namespace roost::net

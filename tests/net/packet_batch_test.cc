// PacketBatch: lanes in order of arrival, undecided until a verdict is set.
#include "roost/net/packet_batch.h"

#include <gtest/gtest.h>

namespace roost::net {
namespace {

TEST(PacketBatch, lanes_keep_the_order_of_arrival_up_to_the_limit) {
  PacketBatch batch;
  EXPECT_TRUE(batch.is_empty());
  for (uint16_t i = 0; i < kBatchLanesMax; ++i) {
    EXPECT_FALSE(batch.is_full());
    batch.push({.in_port = i});
  }
  EXPECT_TRUE(batch.is_full());
  ASSERT_EQ(batch.packets().size(), kBatchLanesMax);
  for (uint16_t i = 0; i < kBatchLanesMax; ++i) EXPECT_EQ(batch.packets()[i].in_port, i);
}

TEST(PacketBatch, a_new_lane_is_undecided_even_where_an_old_one_was_decided) {
  PacketBatch batch;
  batch.push({});
  batch.verdicts()[0] = LaneVerdict::forward(3);
  EXPECT_TRUE(batch.verdicts()[0].is_forward());
  EXPECT_FALSE(batch.verdicts()[0].is_drop());
  EXPECT_FALSE(batch.verdicts()[0].is_consumed());
  EXPECT_EQ(batch.verdicts()[0].out_port(), 3);
  batch.clear();
  EXPECT_TRUE(batch.is_empty());
  batch.push({});
  EXPECT_TRUE(batch.verdicts()[0].is_drop());
  EXPECT_EQ(batch.verdicts()[0].drop_cause(), DropCause::kUndecided);
  batch.verdicts()[0] = drop(DropCause{9});
  EXPECT_EQ(batch.verdicts()[0].drop_cause(), DropCause{9});
  batch.verdicts()[0] = LaneVerdict::consume();
  EXPECT_TRUE(batch.verdicts()[0].is_consumed());
  EXPECT_FALSE(batch.verdicts()[0].is_drop());
  EXPECT_FALSE(batch.verdicts()[0].is_forward());
}

}  // namespace
}  // namespace roost::net

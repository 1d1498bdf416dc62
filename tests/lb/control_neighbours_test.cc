// What control shows of two workers' neighbours: all of them, a station once.
#include <gtest/gtest.h>

#include "tests/lb/controlled.h"
#include "tests/net/message_frames.h"

namespace roost::lb {
namespace {

TEST_F(Controlled, neighbours_and_pings_of_both_workers_are_added_up) {
  workers_[0].send({net::kArpRequest, 0, 128, {}});
  workers_[1].send({net::kArpRequest, 0, 128, {}});
  workers_[1].send({net::kEcho4, 0, 128, {}});
  const Json stats = must({{"command", "stats"}});
  EXPECT_EQ(stats["echo_replies"], 1);
  EXPECT_EQ(stats["neighbours"]["advertisements_sent"], 2);
  const Report reports[] = {workers_[0].report(), workers_[1].report()};
  uint64_t static_count = 0;
  for (const Report& report : reports) {
    static_count +=
        report.neighbours.count_by_state[static_cast<size_t>(l3::NeighbourState::kStatic)];
  }
  EXPECT_GT(static_count, 2U);
  EXPECT_EQ(stats["neighbours"]["states"]["static"], static_count);
}

TEST_F(Controlled, a_neighbour_is_one_row_as_the_worker_knows_it_that_knows_most) {
  const auto row_of = [](const Json& rows, const std::string& address) {
    Json found;
    for (const Json& row : rows["neighbours"]) {
      if (row["address"] == address) found = row;
    }
    return found;
  };
  const net::IpAddress stranger = net::IpAddress::parse("192.0.2.77").value();
  const l3::NeighbourIndex index =
      workers_[0].state().next_hops().neighbours().find_or_make(0, stranger, workers_[0].now);
  Json row = row_of(must({{"command", "neighbours"}}), "192.0.2.77");
  EXPECT_EQ(row["state"], "unknown");
  EXPECT_TRUE(row["mac"].is_null());
  EXPECT_EQ(row["workers"], 1);
  EXPECT_EQ(row["configured"], false);

  // The other worker is solicited by it, so it knows the MAC.
  net::Bytes request = net::kArpRequest;
  request[31] = 77;
  workers_[1].send({request, 0, 128, {}});
  row = row_of(must({{"command", "neighbours"}}), "192.0.2.77");
  EXPECT_EQ(row["state"], "learned");
  EXPECT_EQ(row["mac"], "02:00:00:00:01:10");
  EXPECT_EQ(row["workers"], 2);
  EXPECT_EQ(row["port"], 0);
  EXPECT_EQ(must({{"command", "neighbours"}, {"state", "learned"}})["neighbours"].size(), 1U);
  EXPECT_EQ(must({{"command", "neighbours"}, {"state", "stale"}})["neighbours"].size(), 0U);

  // A packet waits for it.
  l3::Neighbours& neighbours = workers_[0].state().next_hops().neighbours();
  net::Outbox outbox;
  ASSERT_EQ(neighbours.use(index, 60, workers_[0].now, outbox), l3::Way::kWaits);
  neighbours.keep(index, std::vector<uint8_t>(60));
  EXPECT_EQ(row_of(must({{"command", "neighbours"}}), "192.0.2.77")["waiting"], 1);
  EXPECT_EQ(row_of(must({{"command", "neighbours"}}), "192.0.2.10")["state"], "static");
}

}  // namespace
}  // namespace roost::lb

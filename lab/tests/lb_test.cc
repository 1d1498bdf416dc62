// The load balancer on another table is the load balancer: packet for packet it decides what ours
// does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lab/harness/pinned_core.h"
#include "lab/lb/balancer.h"
#include "lab/lb/cell_job.h"
#include "lab/lb/cell_tables.h"
#include "lab/lb/common_job.h"
#include "lab/lb/flows.h"
#include "lab/lb/frame_batch.h"
#include "lab/lb/record_balancer.h"
#include "lab/lb/soak_job.h"
#include "lab/store/common_values.h"
#include "lab/tests/eal_main.h"
#include "roost/conntrack/tables.h"
#include "roost/net/byte_order.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr uint64_t kConnections = 20'000;

// One batch through a balancer: what became of each frame, and its bytes.
template <class Tables>
class Side {
 public:
  explicit Side(const Tables& tables = {})
      : balancer_(Balancer<Tables>::create({.connections = kConnections,
                                            .timeouts = "tcp_established = 60\ntcp_syn = 20\n"
                                                        "tcp_closing = 20\ntcp_closed = 5"},
                                           node::FlowOwner({}), tables)
                      .value()) {}

  std::vector<std::pair<bool, Frame>> send(const std::vector<Frame>& frames, Tick now) {
    batch_.clear();
    for (const Frame& frame : frames) batch_.push(frame);
    net::PacketBatch& batch = batch_.batch();
    balancer_->datapath().process(batch, now);
    balancer_->datapath().idle(now, 64);
    std::vector<std::pair<bool, Frame>> fates;
    for (size_t lane = 0; lane < frames.size(); ++lane) {
      Frame out;
      std::copy_n(batch.packets()[lane].data, kFrameBytes, out.begin());
      fates.emplace_back(batch.verdicts()[lane].is_forward(), out);
    }
    return fates;
  }
  lb::BasicState<Tables>& state() { return balancer_->state(); }

 private:
  std::unique_ptr<Balancer<Tables>> balancer_;
  FrameBatch batch_;
};

// A packet of some flow, of either end, with some flags.
Frame random_frame(traffic::Draw& draw) {
  constexpr std::array<uint8_t, 6> kFlags = {
      net::tcp::kSyn,
      net::tcp::kAck,
      net::tcp::kAck,
      net::tcp::kSyn | net::tcp::kAck,
      net::tcp::kFin | net::tcp::kAck,
      net::tcp::kRst,
  };
  const uint64_t flow = draw.below(15'000);
  const uint8_t flags = kFlags[draw.below(kFlags.size())];
  if (draw.below(3) != 0) return request_of(flow, flags);
  return answer_of(flow, static_cast<uint32_t>(draw.below(kBackendCount)), flags);
}

TEST(BalancerOnOtherTables, decides_as_ours_does) {
  uint64_t seed = 0;
  for (const auto& [store, expiry] :
       {std::pair("rte_hash", ExpiryKind::kScan), std::pair("rte_hash", ExpiryKind::kScan),
        std::pair("rte_hash", ExpiryKind::kScan), std::pair("chained_map", ExpiryKind::kWheel),
        std::pair("roost_inline", ExpiryKind::kWheel)}) {
    SCOPED_TRACE(store);
    Side<conntrack::OwnTables> ours;
    Side<RecordTables> theirs({store_kind(store), expiry});
    traffic::Draw draw(++seed);
    uint64_t forwarded = 0;
    for (uint64_t turn = 0; turn < 10'000; ++turn) {
      std::vector<Frame> frames;
      for (size_t lane = 0; lane < net::kBatchLanesMax; ++lane)
        frames.push_back(random_frame(draw));
      const Tick now{turn / 20};
      const auto fates = ours.send(frames, now);
      ASSERT_EQ(fates, theirs.send(frames, now)) << "seed " << seed << ", turn " << turn;
      for (const auto& fate : fates) forwarded += fate.first ? 1 : 0;
    }
    EXPECT_GT(forwarded, 100'000U);
    ours.state().tracker().settle();
    theirs.state().tracker().settle();
    const lb::FlowCounts mine = ours.state().tracker().counts();
    const lb::FlowCounts other = theirs.state().tracker().counts();
    EXPECT_EQ(mine.created, other.created);
    EXPECT_EQ(mine.ended, other.ended);
    EXPECT_EQ(mine.expired, other.expired);
    EXPECT_EQ(ours.state().tracker().count_live(), theirs.state().tracker().count_live());
    EXPECT_GT(mine.expired, 1'000U);
    EXPECT_GT(mine.ended, 1'000U);
    EXPECT_TRUE(ours.state().audit());
    EXPECT_TRUE(theirs.state().audit());
  }
}

// Sends the same packets through these cells; the rows, which are no rows where cells disagree.
Rows rows_of(const std::vector<std::string>& cells, const std::string& mode,
             double established_seconds, double closed_seconds) {
  traffic::Profile profile = traffic::kCampusLike;
  profile.flows = 20'000;
  auto rows = run_cell_job({.experiment = "cells",
                            .cells = cells,
                            .mode = mode,
                            .connections = 20'000,
                            .stream = {.profile = profile, .windows = 2},
                            .established_seconds = established_seconds,
                            .closed_seconds = closed_seconds,
                            .warm_up_packets = 50'000,
                            .packets = 50'000,
                            .rounds = 8,
                            .cores = {last_allowed_core().value()}},
                           [](double, const std::string&) {});
  if (rows) return std::move(rows).value();
  ADD_FAILURE() << rows.error().message;
  return {};
}

void check_counts(const Rows& rows) {
  double live = 0;
  for (const RecordRow& row : rows) {
    if (row.metric == "connections_live") live = row.value.value_or(0);
    if (row.metric == "forwarded") {
      // An answer to a SYN may come when the connection has expired.
      EXPECT_GT(row.value, 449'900) << row.contestant;
    }
  }
  EXPECT_GT(live, 1'000);
  EXPECT_LT(live, 20'000);
}

// All tables and expiries see the same connections come and go.
TEST(Cells, agree_on_every_packet) {
  for (const std::string mode : {"l2dsr", "nat"}) {
    SCOPED_TRACE(mode);
    std::vector<std::string> cells;
    for (const std::string& name : cell_names())
      if (do_connections_end(name) && !has_one_timeout(name)) cells.push_back(name);
    check_counts(rows_of(cells, mode, 3, 0.5));
  }
}

// By last seen any packet keeps a connection alive, by the tracker's rule an assured one's: so none
// begins anew that would not by the rule.
TEST(Cells, keep_connections_longer_by_last_seen) {
  double by_rule = 0;
  double by_last_seen = 0;
  for (const RecordRow& row :
       rows_of({"slot_timers last_seen", "slot_timers", "rte_hash wheel"}, "l2dsr", 2, 2)) {
    if (row.metric != "connections_created") continue;
    (row.contestant == "slot_timers last_seen" ? by_last_seen : by_rule) = row.value.value_or(0);
  }
  EXPECT_GT(by_rule, 10'000);
  EXPECT_LT(by_last_seen, by_rule);
  EXPECT_GT(by_last_seen, 0.95 * by_rule);
  CellSetup two_timeouts;
  two_timeouts.established_seconds = 2;
  two_timeouts.closed_seconds = 1;
  EXPECT_FALSE(make_cells("slot_timers last_seen", two_timeouts));
}

// Whichever way a table is shared, any thread finds any key, and what another one has just erased
// is all that may be missed.
TEST(CommonTables, answer_any_thread) {
  const int core = last_allowed_core().value();
  std::vector<std::string> tables;
  for (const SharingKind& kind : sharing_kinds()) tables.push_back(kind.name);
  const auto rows = run_common_job({.experiment = "common",
                                    .tables = tables,
                                    .entries = 2'000,
                                    .lookups_per_change = 20,
                                    .lookups = 200'000,
                                    .rounds = 2,
                                    .cores = {core == 0 ? core : core - 1, core}},
                                   [](double, const std::string&) {});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows.value().size(), tables.size() * 2 * 2);
}

TEST(Flows, have_a_client_each) {
  std::unordered_set<uint32_t> clients;
  for (uint64_t flow = 0; flow < 1'000'000; ++flow) {
    const net::Ipv4Address client = client_of(flow);
    const uint32_t number = net::load_be32(client.bytes.data());
    EXPECT_EQ(number >> 29, 2U);  // 64.0.0.0/3
    ASSERT_TRUE(clients.insert(number).second) << flow;
  }
}

// Whatever its tables are: each worker's own, or one of both.
TEST(Soak, counts_every_connection) {
  const int core = last_allowed_core().value();
  const std::vector<int> one = {core};
  const std::vector<int> two = {core == 0 ? core : core - 1, core};
  for (const auto& [cell, cores] :
       {std::pair("slot_timers", one), std::pair("slot_timers", two),
        std::pair("roost_inline wheel", two), std::pair("common roost shared", two)}) {
    SCOPED_TRACE(cell);
    const auto rows = run_soak_job(
        {.experiment = "soak", .cell = cell, .connections = 10'000, .seconds = 0.1, .cores = cores},
        [](double, const std::string&) {});
    ASSERT_TRUE(rows) << rows.error().message;
    const auto value = [&](const std::string& form, const std::string& metric) {
      for (const RecordRow& row : rows.value())
        if (row.form == form && row.metric == metric) return row.value.value_or(-1);
      return -1.0;
    };
    EXPECT_EQ(value("whole run", "packets_lost"), 0);
    EXPECT_EQ(value("whole run", "flows_left"), 0);
    EXPECT_EQ(value("whole run", "heap_bytes_left"), 0);
    EXPECT_GE(value("whole run", "flood_packets"), 100'000);
    EXPECT_GT(value("whole run", "flows_evicted"), 10'000);
    EXPECT_GT(value("whole run", "flows_ended"), 10'000);
    EXPECT_GT(value("whole run", "flows_expired"), 10'000);
    for (const std::string phase : {"before", "after"}) {
      EXPECT_GT(value(phase, "load_min"), 0.8);
      EXPECT_LT(value(phase, "load_max"), 1.0);
    }
  }
}

TEST(Soak, needs_connections_that_end) {
  const auto rows = run_soak_job({.experiment = "soak",
                                  .cell = "slot_timers none",
                                  .connections = 20'000,
                                  .cores = {last_allowed_core().value()}},
                                 [](double, const std::string&) {});
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("do not end"), std::string::npos);
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  return roost::lab::run_tests_with_eal(argc, argv, uint64_t{256} << 20);
}

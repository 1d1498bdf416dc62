// The functions that are measured do what they should: on other tables what they do on ours, and by
// rules what the rules say.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "lab/functions/firewall_holder.h"
#include "lab/functions/lookup_ways_job.h"
#include "lab/functions/nat_holder.h"
#include "lab/functions/rule_job.h"
#include "lab/functions/rules.h"
#include "lab/harness/pinned_core.h"
#include "lab/lb/fill_flows.h"
#include "lab/tests/eal_main.h"
#include "roost/acl/rule_masks.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr uint64_t kFlows = 20'000;

std::vector<uint32_t> flows_from(uint32_t first) {
  std::vector<uint32_t> flows(kFlows);
  std::iota(flows.begin(), flows.end(), first);
  return flows;
}

// A batch through a function: what became of each frame, and its bytes.
template <class Function>
std::vector<std::pair<bool, Frame>> send(Function& function, const std::vector<Frame>& frames,
                                         Tick now) {
  FrameBatch batch;
  for (const Frame& frame : frames) batch.push(frame);
  function.process(batch.batch(), now);
  function.idle(now, 64);
  std::vector<std::pair<bool, Frame>> fates;
  for (size_t lane = 0; lane < frames.size(); ++lane) {
    Frame out;
    std::copy_n(batch.batch().packets()[lane].data, kFrameBytes, out.begin());
    fates.emplace_back(batch.batch().verdicts()[lane].is_forward(), out);
  }
  return fates;
}

TEST(NatOnOtherTables, decides_as_ours_does) {
  const NatSettings settings{.mappings = 2 * kFlows};
  auto ours = NatHolder<conntrack::OwnTables>::create(settings, {});
  ASSERT_TRUE(ours) << ours.error().message;
  auto theirs =
      NatHolder<RecordTables>::create(settings, RecordTables{.kind = store_kind("rte_hash")});
  ASSERT_TRUE(theirs) << theirs.error().message;
  traffic::Draw draw(1);
  uint64_t forwarded = 0;
  // None ends: when what is over is swept, and gives its port back, depends on the table's order.
  constexpr std::array<uint8_t, 2> kFlags = {net::tcp::kSyn, net::tcp::kAck};
  for (uint64_t turn = 0; turn < 5'000; ++turn) {
    std::vector<Frame> frames;
    for (size_t lane = 0; lane < net::kBatchLanesMax; ++lane)
      frames.push_back(request_of(draw.below(kFlows), kFlags[draw.below(kFlags.size())]));
    const Tick now{turn / 20};
    const auto fates = send(ours.value()->function(), frames, now);
    ASSERT_TRUE(fates == send(theirs.value()->function(), frames, now)) << "turn " << turn;
    for (const auto& fate : fates) forwarded += fate.first ? 1U : 0U;
  }
  EXPECT_GT(forwarded, 100'000U);
}

TEST(NatHolder, translates_every_flow) {
  auto nat = NatHolder<conntrack::OwnTables>::create({.mappings = kFlows}, {});
  ASSERT_TRUE(nat) << nat.error().message;
  EXPECT_FALSE(nat.value()->fill(flows_from(0), Tick{1}));
  const auto wrong = nat.value()->wrong();
  EXPECT_FALSE(wrong) << wrong->message;
}

// Connections go on, all else is denied.
TEST(Firewall, denies_what_is_of_no_connection) {
  auto firewall = Firewall::create({.connections = kFlows, .rules = 1'000});
  ASSERT_TRUE(firewall) << firewall.error().message;
  firewall::State& state = firewall.value()->state();
  FirewallHolder holder(std::move(firewall).value());
  const auto unfilled = holder.fill(flows_from(0), Tick{1});
  ASSERT_FALSE(unfilled) << unfilled->message;
  for (uint32_t flow = 0; flow < 2 * kFlows; ++flow) {
    const auto fates = send(holder.function(), {request_of(flow)}, Tick{1});
    ASSERT_EQ(fates[0].first, flow < kFlows) << flow;
  }
  EXPECT_FALSE(holder.wrong());
  uint64_t denied = 0;
  for (const auto& count : state.rules().counts().first(1'000)) denied += count.packets;
  EXPECT_GT(denied, kFlows * 95 / 100);  // 24 of 1,024 parts are nobody's
}

TEST(Rules, are_about_the_keys_that_are_drawn_from_them) {
  traffic::Draw draw(3);
  for (const acl::RuleConfig& rule : five_tuple_rules(2'000, 2)) {
    const auto masks = acl::masks_of(rule, 0);
    ASSERT_TRUE(masks);
    const auto fields = acl::fields_of(draw_key(rule, draw), 0, {});
    EXPECT_TRUE(std::ranges::any_of(*masks, [&](const classify::Rule& mask) {
      return mask.matches(fields);
    })) << rule_text(rule);
  }
}

// The job fails where two of them differ.
TEST(Rules, are_found_alike_by_the_classifier_and_rte_acl) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    const auto rows = run_rule_job({.experiment = "rules",
                                    .core = last_allowed_core().value(),
                                    .rules = 1'000,
                                    .packets = 10'000,
                                    .seed = seed},
                                   [](double, const std::string&) {});
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows.value().size(), 3U);
  }
}

// The job fails where a way's answer is not the stream's.
TEST(LookupWays, answer_alike_for_every_function) {
  for (const char* function : {"nat", "assets", "filter"}) {
    const auto rows = run_lookup_ways_job({.experiment = "fig13",
                                           .function = function,
                                           .core = last_allowed_core().value(),
                                           .entries = 10'000,
                                           .packets = 20'011,  // no whole batches
                                           .rounds = 2},
                                          [](double, const std::string&) {});
    ASSERT_TRUE(rows) << function << ": " << rows.error().message;
    ASSERT_EQ(rows.value().size(), 8U);
    for (const RecordRow& row : rows.value()) {
      EXPECT_EQ(row.operations, 20'011U);
      EXPECT_GT(row.value.value(), 0.0);
    }
  }
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  return roost::lab::run_tests_with_eal(argc, argv, uint64_t{512} << 20, 512);
}

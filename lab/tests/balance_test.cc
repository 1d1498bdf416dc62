// Balancing side by side: what breaks is what breaks by the plainest count, and a connection table
// keeps what it promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "lab/balance/balance_job.h"
#include "lab/balance/event_run.h"
#include "lab/balance/moves.h"
#include "lab/harness/pinned_core.h"
#include "roost/balance/rendezvous.h"
#include "roost/hash/keyed_hash.h"
#include "roost/traffic/connection_stream.h"
#include "roost/traffic/key_source.h"

namespace roost::lab {
namespace {

constexpr size_t kBackends = 9;
constexpr uint64_t kConnections = 4'000;
constexpr double kSeconds = 0.3;  // short: a stream takes a tick each microsecond

EventFigures figures(const std::string& algorithm, const std::string& scenario_name,
                     bool has_table) {
  const std::vector<Scenario> all = scenarios(kBackends);
  const auto found =
      run_events({.kind = chooser_kind(algorithm),
                  .scenario = &*std::ranges::find(all, scenario_name, &Scenario::name),
                  .has_table = has_table,
                  .backends = kBackends,
                  .connections = kConnections,
                  .seconds = kSeconds,
                  .flow_seconds = kSeconds / 20,
                  .probes = 4'096});
  if (!found) ADD_FAILURE() << found.error().message;
  return found.value();
}

TEST(Events, what_breaks_is_what_two_choices_say) {
  // A backend leaves in the middle; without a table a connection breaks when its choice by the
  // shorter list is another one and a packet was still to come.
  std::vector<balance::WeightedBackend> list;
  for (size_t i = 0; i < kBackends; ++i) list.push_back({"backend-" + std::to_string(i), 1});
  std::vector<balance::WeightedBackend> left = list;
  left.erase(left.begin() + kBackends / 3);
  const auto before = balance::Rendezvous::create({.backends = list, .seed = 1}).value();
  const auto after = balance::Rendezvous::create({.backends = left, .seed = 1}).value();
  auto stream = traffic::ConnectionStream::create(
                    {.profile = {.name = "balance",
                                 .flows = kConnections,
                                 .seconds = kSeconds,
                                 .length = {.law = traffic::LengthLaw::kFixed, .mean = 10},
                                 .flow_seconds = kSeconds / 20}})
                    .value();
  const traffic::KeySource keys(1);
  const KeyedHash hash(1);
  std::map<uint32_t, std::string> first;
  std::set<uint32_t> broken;
  std::vector<traffic::StreamPacket> packets(64);
  while (const size_t count = stream.next(packets)) {
    for (size_t i = 0; i < count; ++i) {
      const traffic::StreamPacket& packet = packets[i];
      const traffic::Key128 key = keys.inserted(packet.flow);
      const bool is_before = static_cast<double>(packet.nanoseconds) < kSeconds / 2 * 1e9;
      const size_t picked =
          (is_before ? before : after).pick(hash.hash<sizeof(key)>(&key).bits).value();
      const std::string& name = (is_before ? list : left)[picked].name;
      if (first.try_emplace(packet.flow, name).first->second != name) broken.insert(packet.flow);
    }
  }
  ASSERT_GT(broken.size(), 5u);
  const EventFigures found = figures("rendezvous", "leave", false);
  EXPECT_EQ(found.connections, kConnections);
  EXPECT_EQ(found.broken_moved, broken.size());
  EXPECT_EQ(found.broken_failed, 0u);
}

TEST(Events, with_a_table_no_connection_moves_but_when_it_is_lost) {
  for (const ChooserKind& kind : chooser_kinds()) {
    for (const Scenario& scenario : scenarios(kBackends)) {
      const EventFigures found = figures(kind.name, scenario.name, true);
      EXPECT_EQ(found.connections, kConnections);
      if (scenario.name != "restart") {
        EXPECT_EQ(found.broken_moved, 0u) << kind.name << ", " << scenario.name;
      }
      const bool has_failures = scenario.name == "fail" || scenario.name == "rolling";
      EXPECT_EQ(found.broken_failed > 0, has_failures) << kind.name << ", " << scenario.name;
    }
  }
  EXPECT_GT(figures("least_connections", "restart", true).broken_moved,
            figures("ring", "restart", true).broken_moved + 100);
}

TEST(Events, hashes_of_least_disruption_move_what_they_must_and_jump_and_maglev_more) {
  for (const std::string scenario : {"leave", "come", "fail", "weights", "rolling"}) {
    for (const std::string algorithm : {"ring", "rendezvous", "anchor", "dx"}) {
      const EventFigures found = figures(algorithm, scenario, false);
      EXPECT_EQ(found.moved_needlessly, 0) << algorithm << ", " << scenario;
      EXPECT_GT(found.moved_min, 0.05) << scenario;
    }
  }
  const EventFigures jump = figures("jump", "leave", false);
  const EventFigures maglev = figures("maglev", "leave", false);
  EXPECT_GT(jump.moved_needlessly, 0.2);
  EXPECT_GT(maglev.moved_needlessly, 0);
  EXPECT_LT(maglev.moved_needlessly, 0.05);
  EXPECT_GT(jump.broken_moved, maglev.broken_moved);
}

TEST(Events, a_hash_that_keeps_history_is_another_one_after_a_restart) {
  const uint64_t ring = figures("ring", "restart", true).broken_moved;
  EXPECT_GT(figures("anchor", "restart", true).broken_moved, ring);
  EXPECT_GT(figures("dx", "restart", true).broken_moved, ring);
}

TEST(Events, least_connections_keeps_live_connections_even) {
  const double least = figures("least_connections", "leave", true).live_max_over_mean;
  EXPECT_LT(least, figures("maglev", "leave", true).live_max_over_mean);
  EXPECT_GE(least, 1);
  EXPECT_LT(figures("least_connections_4", "leave", true).live_max_over_mean, 1.3);
}

TEST(Jobs, a_row_a_figure_and_what_goes_by_counts_is_not_run_without_a_table) {
  const Progress quiet = [](double, const std::string&) {};
  EventJobConfig config{.experiment = "events",
                        .contestants = {"maglev", "least_connections"},
                        .scenario = "come",
                        .backends = kBackends,
                        .connections = 500,
                        .probes = 1'000};
  const auto rows = run_event_job(config, quiet);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows.value().size(), 11u + 11u + 1u + 7u);
  EXPECT_TRUE(rows.value()[22].note.starts_with("not run"));
  config.scenario = "nothing";
  EXPECT_FALSE(run_event_job(config, quiet));
  config.scenario = "come";
  config.contestants = {"nobody"};
  EXPECT_FALSE(run_event_job(config, quiet));
}

TEST(Jobs, choices_are_timed_for_all_in_each_round) {
  const Progress quiet = [](double, const std::string&) {};
  PickJobConfig config{.experiment = "picks",
                       .contestants = {},
                       .backends = 10,
                       .picks = 1'000,
                       .rounds = 2,
                       .core = last_allowed_core().value()};
  for (const ChooserKind& kind : chooser_kinds()) config.contestants.push_back(kind.name);
  const auto rows = run_pick_job(config, quiet);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows.value().size(), size_t{4} * chooser_kinds().size());
  for (const RecordRow& row : rows.value()) EXPECT_GT(row.value.value(), 0) << row.contestant;
}

}  // namespace
}  // namespace roost::lab

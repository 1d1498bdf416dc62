// What is told of ports, tables and neighbours: each change once, and no flood of it.
#include "roost/control/event_watch.h"

#include <gtest/gtest.h>

#include "tests/lb/controlled.h"
#include "tests/lb/test_neighbours.h"

namespace roost::lb {
namespace {

using std::chrono::seconds;
using Lines = std::vector<std::string>;

// Two workers whose refusals, and two ports whose links, are what the test says.
class Watched : public Controlled {
 protected:
  explicit Watched(const std::string& toml = test_config()) : Controlled(toml) {
    control::EventWatch::Config config{
        .mailboxes = &mailboxes_,
        .full_table_advice = "[table] connections",
        .read_links = [this] { return links_; },
        .tell =
            [this](control::Severity severity, std::string_view text) {
              events_.push_back(
                  control::event_line(control::LogFormat::kJournal, severity, text, {}));
            }};
    for (size_t w = 0; w < 2; ++w) {
      config.workers.push_back(
          control::worker_handle(workers_[w].state(), [this, w](node::RunTotals& totals) {
            totals.drops[DropCause::kTableFull] = refused_[w];
          }));
    }
    watch_.emplace(std::move(config));
  }

  // What a look at this second tells.
  Lines look(int second = 0) {
    const control::EventWatch::Clock::time_point now{seconds(1'000 + second)};
    EXPECT_TRUE(while_serving([&] { return watch_->look(now); }));
    return take_events();
  }

  std::vector<control::PortLink> links_ = {{"eth_a"}, {"eth_b"}};
  std::array<uint64_t, 2> refused_{};
  std::optional<control::EventWatch> watch_;
};

TEST_F(Watched, a_link_is_told_when_it_changes) {
  EXPECT_EQ(look(), Lines{});
  links_[1].is_up = false;
  EXPECT_EQ(look(), Lines{"<3>port 1 (eth_b): link down\n"});
  EXPECT_EQ(look(), Lines{});
  links_[1].is_up = true;
  EXPECT_EQ(look(), Lines{"<5>port 1 (eth_b): link up\n"});
}

TEST_F(Watched, a_full_table_is_told_at_once_and_then_once_a_minute) {
  EXPECT_EQ(look(0), Lines{});
  refused_ = {2, 3};
  EXPECT_EQ(look(1), Lines{"<4>table full: 5 packets of new connections dropped; see [table] "
                           "connections\n"});
  for (int second = 2; second < 61; ++second) {
    ++refused_[0];
    EXPECT_EQ(look(second), Lines{}) << second;
  }
  EXPECT_EQ(look(61),
            Lines{"<4>table full: 59 packets of new connections dropped since it was told "
                  "last; see [table] connections\n"});
  EXPECT_EQ(look(200), Lines{}) << "none since";
  ++refused_[1];
  EXPECT_EQ(look(201).size(), 1U) << "at once again";
}

TEST_F(Watched, workers_that_have_ended_end_it) {
  mailboxes_.mailbox(0).close();
  mailboxes_.mailbox(1).close();
  EXPECT_FALSE(watch_->look({}));
}

class WatchedNeighbours : public Watched {
 protected:
  WatchedNeighbours() : Watched(config_without_neighbours()) {}

  void pass_until(uint64_t tick) {
    for (TestBalancer& worker : workers_) {
      while (worker.now < Tick{tick}) {
        ++worker.now.count;
        worker.idle();
      }
    }
  }
  // A worker needs the backend that a new connection goes to.
  void need_backend(size_t worker, uint16_t port = 1'000) {
    workers_[worker].send_from_client({.source_port = port});
  }
  // The backends' advertisements, as the worker receives them.
  void answer(size_t worker) {
    for (const char* backend : {"10.0.0.11", "10.0.0.12", "10.0.0.13"}) {
      workers_[worker].send({is_at(backend, kBackendMac, "10.0.0.1", kPort1Mac), 1, 128, {}});
    }
  }
};

TEST_F(WatchedNeighbours, one_that_is_lost_and_one_that_is_found_are_told_once) {
  need_backend(0);
  EXPECT_EQ(look(), Lines{});
  pass_until(5);  // three solicitations, a second apart
  const Lines lost = look();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_TRUE(lost[0].starts_with("<4>neighbour 10.0.0.1")) << lost[0];
  EXPECT_TRUE(lost[0].ends_with(" of port 1 does not answer\n")) << lost[0];
  EXPECT_EQ(look(), Lines{});
  // It fails again and again, and is still the same that was lost.
  pass_until(8);
  need_backend(0);
  pass_until(13);
  EXPECT_EQ(look(), Lines{});
  // The other worker finds it.
  need_backend(1);
  answer(1);
  const Lines found = look();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("<5>neighbour 10.0.0.1")) << found[0];
  EXPECT_TRUE(found[0].ends_with(" of port 1 answers again\n")) << found[0];
  // What the first one knew is older.
  EXPECT_EQ(look(), Lines{});
  // And lost once more, by the first one, while the other has not noticed.
  pass_until(15);
  need_backend(0);
  pass_until(20);
  EXPECT_EQ(look().size(), 1U);
}

TEST_F(WatchedNeighbours, strangers_that_never_were_there_are_not_told) {
  l3::Neighbours& neighbours = workers_[0].state().next_hops().neighbours();
  for (int host = 100; host < 120; ++host) {
    const auto stranger = net::IpAddress::parse("192.0.2." + std::to_string(host)).value();
    const auto index = neighbours.find_or_make(0, stranger, workers_[0].now);
    net::Outbox outbox;
    EXPECT_EQ(neighbours.use(index, 60, workers_[0].now, outbox), l3::Way::kWaits);
    neighbours.keep(index, std::vector<uint8_t>(60));
  }
  pass_until(6);
  EXPECT_EQ(neighbours.counters().failed, 20U);
  EXPECT_EQ(look(), Lines{});
}

}  // namespace
}  // namespace roost::lb

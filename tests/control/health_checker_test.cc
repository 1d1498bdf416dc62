// Health checks against real servers on this machine: they fall and rise by rule, and only then.
#include "roost/control/health_checker.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "tests/control/health_targets.h"

namespace roost::control {
namespace {

using std::chrono::milliseconds;

constexpr const char* kGood = "HTTP/1.1 204 No Content\r\n\r\n";
constexpr const char* kBad = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
constexpr const char* kBadFailure = "status 503 instead of 200-399";

HealthChecker::OnChange notes_of(Verdicts& verdicts) {
  return [&verdicts](size_t, bool is_well, const std::string& failure) {
    return verdicts.note(is_well, failure);
  };
}

void wait_for_requests(const Server& server, uint64_t count) {
  while (server.requests < count) std::this_thread::sleep_for(milliseconds(1));
}

TEST(health_checker, a_server_that_ends_falls_and_rises_when_it_is_back) {
  auto server = std::make_unique<Server>(0, kGood);
  const uint16_t port = server->port();
  Verdicts verdicts;
  const HealthChecker checker({target_at(port, HttpCheck{})}, notes_of(verdicts));
  wait_for_requests(*server, 5);
  EXPECT_EQ(verdicts.count(), 0U) << "it was well all the time";
  server.reset();
  EXPECT_EQ(verdicts.at(0).failure, "Connection refused");
  server = std::make_unique<Server>(port, kGood);
  EXPECT_TRUE(verdicts.at(1).is_well);
  EXPECT_GE(server->requests, 2U) << "after two good answers";
}

TEST(health_checker, without_a_path_who_accepts_is_well) {
  auto server = std::make_unique<Server>(0);
  const uint16_t port = server->port();
  Verdicts verdicts;
  const HealthChecker checker({target_at(port)}, notes_of(verdicts));
  wait_for_requests(*server, 5);
  EXPECT_EQ(verdicts.count(), 0U) << "it was well all the time";
  server.reset();
  EXPECT_EQ(verdicts.at(0).failure, "Connection refused");
  server = std::make_unique<Server>(port);
  EXPECT_TRUE(verdicts.at(1).is_well);
}

TEST(health_checker, who_is_said_to_be_ill_rises_and_who_is_ill_is_not_told_again) {
  Server good(0, kGood);
  Server bad(0, kBad);
  std::array<Verdicts, 2> verdicts;
  {
    std::vector<HealthTarget> targets = {target_at(good.port(), HttpCheck{}),
                                         target_at(bad.port(), HttpCheck{})};
    for (HealthTarget& target : targets) {
      target.is_well = false;
      target.failure = kBadFailure;
    }
    const HealthChecker checker(std::move(targets),
                                [&](size_t target, bool is_well, const std::string& failure) {
                                  return verdicts[target].note(is_well, failure);
                                });
    wait_for_requests(bad, 5);
    ASSERT_EQ(verdicts[1].count(), 0U);
    EXPECT_TRUE(verdicts[0].at(0).is_well);
    EXPECT_EQ(verdicts[0].at(0).failure, "");
    EXPECT_GE(good.requests, 2U) << "after two good answers";
  }
}

TEST(health_checker, another_reason_is_told_of_one_that_is_ill) {
  auto server = std::make_unique<Server>(0, kBad);
  const uint16_t port = server->port();
  Verdicts verdicts;
  const HealthChecker checker({target_at(port, HttpCheck{})}, notes_of(verdicts));
  EXPECT_EQ(verdicts.at(0).failure, kBadFailure);
  EXPECT_GE(server->requests, 3U) << "after three bad answers";
  server.reset();
  const Verdicts::Verdict second = verdicts.at(1);
  EXPECT_FALSE(second.is_well);
  EXPECT_NE(second.failure, kBadFailure);
}

TEST(health_checker, who_answers_too_late_is_not_well) {
  Server slow(0, kGood, Server::Manner::kHangs);
  HealthTarget target = target_at(slow.port(), HttpCheck{});
  target.timeout = milliseconds(20);
  Verdicts verdicts;
  const HealthChecker checker({target}, notes_of(verdicts));
  EXPECT_EQ(verdicts.at(0).failure, "timed out after 0.02 s");
}

TEST(health_checker, a_verdict_that_is_not_taken_is_repeated) {
  std::atomic<int> calls = 0;
  std::unique_ptr<Server> gone = std::make_unique<Server>(0);
  const uint16_t port = gone->port();
  gone.reset();
  const HealthChecker checker({target_at(port)},
                              [&](size_t, bool, const std::string&) { return ++calls >= 3; });
  while (calls < 3) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(calls, 3) << "and then it is taken";
}

}  // namespace
}  // namespace roost::control

// The log of events: how a line looks, where it is the journal's, and what the control tells.
#include "apps/lb/event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "roost/base/file_descriptor.h"
#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

using Lines = std::vector<std::string>;

TEST(event_log, a_line_has_its_time_or_in_the_journal_its_level) {
  const std::chrono::system_clock::time_point time(std::chrono::milliseconds(1'795'231'193'045));
  EXPECT_EQ(event_line(LogFormat::kText, Severity::kWarning, "one\ntwo", time),
            "2026-11-21T03:19:53.045Z warning: one two\n");
  EXPECT_EQ(event_line(LogFormat::kText, Severity::kError, "x", {}),
            "1970-01-01T00:00:00.000Z error: x\n");
  EXPECT_EQ(event_line(LogFormat::kJournal, Severity::kError, "one\ntwo", time), "<3>one two\n");
  EXPECT_EQ(event_line(LogFormat::kJournal, Severity::kWarning, "x", time), "<4>x\n");
  EXPECT_EQ(event_line(LogFormat::kJournal, Severity::kNotice, "x", time), "<5>x\n");
}

TEST(event_log, it_is_the_journals_only_where_the_journal_listens) {
  const std::string path = testing::TempDir() + "event_log_test";
  const FileDescriptor journal(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const FileDescriptor other(open("/dev/null", O_RDWR | O_CLOEXEC));
  struct stat status = {};
  ASSERT_EQ(fstat(journal.number(), &status), 0);
  unsetenv("JOURNAL_STREAM");
  EXPECT_EQ(log_format_of(journal.number()), LogFormat::kText);
  setenv("JOURNAL_STREAM", fmt::format("{}:{}", status.st_dev, status.st_ino).c_str(), 1);
  EXPECT_EQ(log_format_of(journal.number()), LogFormat::kJournal);
  EXPECT_EQ(log_format_of(other.number()), LogFormat::kText);
  EXPECT_EQ(log_format_of(-1), LogFormat::kText);
  unsetenv("JOURNAL_STREAM");
  unlink(path.c_str());
}

TEST_F(Controlled, what_becomes_of_a_backend_is_told_once) {
  const Control::CheckedBackend second_of_web{.family = 0, .slot = 1};
  const auto set_health = [&](bool is_well) {
    return while_serving([&] { return control_->set_health(second_of_web, is_well); });
  };
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(set_health(false));
  EXPECT_EQ(take_events(), (Lines{"<4>backend b2 of web (10.0.0.12:8080) fails its checks\n"}));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(set_health(true));
  EXPECT_EQ(take_events(),
            (Lines{"<5>backend b2 of web (10.0.0.12:8080) is well again, say its checks\n"}));
  for (const auto& [action, words] :
       {std::pair("drain", "drained"), std::pair("down", "marked down"),
        std::pair("up", "up again")}) {
    must({{"command", "backend"}, {"action", action}, {"name", "b2"}, {"service", "web"}});
    EXPECT_EQ(take_events(),
              (Lines{fmt::format(
                  "<5>backend b2 of web (10.0.0.12:8080) is {}, as an operator said\n", words)}));
  }
}

TEST_F(Controlled, a_reload_is_told_whatever_comes_of_it) {
  EXPECT_TRUE(reload(test_config("weight = 2", "weight = 3")).ok());
  const Lines taken = take_events();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_TRUE(taken[0].starts_with("<5>the configuration was taken: ")) << taken[0];
  EXPECT_FALSE(reload(test_config("weight = 2", "height = 3")).ok());
  const Lines refused = take_events();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_TRUE(refused[0].starts_with("<3>" + config_path() + ":")) << refused[0];
  EXPECT_EQ(refused[1], "<3>the configuration was not taken; nothing has changed\n");
}

}  // namespace
}  // namespace roost::lb

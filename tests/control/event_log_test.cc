// The log of events: how a line looks, and where it is the journal's.
#include "roost/control/event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "roost/base/file_descriptor.h"

namespace roost::control {
namespace {

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

}  // namespace
}  // namespace roost::control

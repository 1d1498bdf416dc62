#include "roost/control/event_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace roost::control {

namespace {

static_assert(static_cast<int>(Severity::kError) == LOG_ERR &&
              static_cast<int>(Severity::kWarning) == LOG_WARNING &&
              static_cast<int>(Severity::kNotice) == LOG_NOTICE);

std::string_view severity_name(Severity severity) {
  if (severity == Severity::kError) return "error";
  return severity == Severity::kWarning ? "warning" : "notice";
}

}  // namespace

LogFormat log_format_of(int descriptor) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in the program changes its environment
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status = {};
  if (stream == nullptr || fstat(descriptor, &status) != 0) return LogFormat::kText;
  // A child of a service may have the variable and another standard error.
  const bool is_journal = stream == fmt::format("{}:{}", status.st_dev, status.st_ino);
  return is_journal ? LogFormat::kJournal : LogFormat::kText;
}

std::string event_line(LogFormat format, Severity severity, std::string_view text,
                       std::chrono::system_clock::time_point time) {
  std::string one_line(text);
  std::ranges::replace(one_line, '\n', ' ');
  if (format == LogFormat::kJournal) {
    return fmt::format("<{}>{}\n", static_cast<int>(severity), one_line);
  }
  using std::chrono::milliseconds;
  const auto since_1970 = std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z {}: {}\n",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     since_1970.count() % 1'000, severity_name(severity), one_line);
}

void log_event(Severity severity, std::string_view text) {
  static const LogFormat format = log_format_of(STDERR_FILENO);
  // On a terminal, the status line makes room.
  static const std::string_view before = isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";
  fmt::print(stderr, "{}{}", before,
             event_line(format, severity, text, std::chrono::system_clock::now()));
}

}  // namespace roost::control

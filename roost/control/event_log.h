// The log of events: what happens to a running function that an operator wants to know without a
// request, a line each on standard error.
//
//   in the journal   <4>backend b2 of web (10.0.0.12:8080) fails its checks
//   else             2026-11-23T01:06:07.123Z warning: backend b2 of web (10.0.0.12:8080) fails ...
//
// Control threads log, and never a worker's datapath: workers count, and event_watch.h looks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace roost::control {

// Syslog's levels, which are the journal's.
enum class Severity : uint8_t { kError = 3, kWarning = 4, kNotice = 5 };

// Where events go; any thread but a worker's may call it.
using TellEvent = std::function<void(Severity severity, std::string_view text)>;

enum class LogFormat : uint8_t {
  kJournal,  // with the level in front, as sd-daemon(3) says; the journal has the time
  kText      // with the time, ISO 8601 in UTC
};

// The journal's, if the service manager says that this descriptor leads there (JOURNAL_STREAM).
[[nodiscard]] LogFormat log_format_of(int descriptor);

// An event as a line, with its end. Line ends in the text become spaces.
[[nodiscard]] std::string event_line(LogFormat format, Severity severity, std::string_view text,
                                     std::chrono::system_clock::time_point time);

// Onto standard error, in the format that suits it.
void log_event(Severity severity, std::string_view text);

}  // namespace roost::control

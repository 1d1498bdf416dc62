// Watches over all workers, and the thread that writes their traces: into a capture file, onto
// standard error, or to the client of `roost ctl trace`. One at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "roost/control/event_log.h"
#include "roost/control/json.h"
#include "roost/node/mailbox.h"
#include "roost/trace/packet_trace_text.h"
#include "roost/trace/watch_point.h"

namespace roost::trace {

// What a run is watched for from its first packet on.
struct TraceOptions {
  std::string capture_path{};  // a file to be written; empty: none
  std::string filter{};        // empty: everything
  bool is_printed = false;     // as text

  [[nodiscard]] bool is_wanted() const { return is_printed || !capture_path.empty(); }
};

class Tracer {
 public:
  struct Config {
    std::vector<WatchPoint*> points{};  // worker i has mailbox i
    node::WorkerMailboxes* mailboxes = nullptr;
    std::vector<std::string> ports{};  // their names
    bool is_replay = false;
    uint64_t tick_nanoseconds = 0;  // in a replay
    std::string application{};      // that a capture file names as its author
    TraceWords words{};
    control::TellEvent tell = [](control::Severity, std::string_view) {};
    // Where traces are printed; on the thread that writes them.
    std::function<void(std::string_view)> print = [](std::string_view) {};
  };

  explicit Tracer(Config config);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();  // after the workers

  // Before the workers run, on a thread that may run where the writing one is to.
  [[nodiscard]] std::optional<Error> begin(const TraceOptions& options);

  // `roost ctl trace`: on with a filter, off, or what was seen since the last time. On a control
  // thread.
  [[nodiscard]] Result<control::Json> trace(const control::Json& parameters);

  // After the workers: the rest is written, the file is whole. What was counted is printed. An
  // error: the file is not whole. If its disk was full, that was logged when it happened, and
  // nothing was captured from then on.
  [[nodiscard]] std::optional<Error> finish();

 private:
  class TraceWriter;

  [[nodiscard]] Result<std::unique_ptr<TraceWriter>> make_writer(const TraceOptions& options) const;
  [[nodiscard]] std::optional<Error> ask(bool is_on);
  Result<control::Json> turn_on(const std::string& filter);
  Result<control::Json> turn_off();

  Config config_;
  std::unique_ptr<TraceWriter> writer_;  // while something is watched
};

}  // namespace roost::trace

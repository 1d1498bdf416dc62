// Watches over all workers, and the thread that tells what they see: into a capture file, onto
// standard error, or to who asks by `roost ctl trace`. One at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/command_list.h"
#include "apps/lb/config.h"
#include "apps/lb/event_log.h"
#include "apps/lb/watched_datapath.h"
#include "roost/base/result.h"
#include "roost/node/mailbox.h"

namespace roost::lb {

// What a run is watched for from its first packet on.
struct WatchOptions {
  std::string capture_path{};  // a file to be written; empty: none
  std::string filter{};        // empty: everything
  bool is_told = false;        // in words on standard error

  [[nodiscard]] bool is_wanted() const { return is_told || !capture_path.empty(); }
};

class Observation {
 public:
  struct Config {
    std::vector<WatchedDatapath*> datapaths{};  // worker i has mailbox i of the room
    node::Mailroom* room = nullptr;
    std::vector<std::string> ports{};  // their names
    bool is_replay = false;
    TellEvent tell = [](Severity, std::string_view) {};
  };

  Observation(const lb::Config& lb_config, Config config);
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation();  // after the workers

  // Before the workers run, on a thread that may run where the telling one is to.
  [[nodiscard]] std::optional<Error> begin(const WatchOptions& options);

  // `roost ctl trace`: on with a filter, off, or what was seen since the last time. On a control
  // thread.
  [[nodiscard]] Result<Json> trace(const Json& parameters);

  // After the workers: the rest is told, the file is whole. What was counted is said on standard
  // error. An error: the file is not whole. If its disk was full, that was told when it happened,
  // and nothing was captured from then on.
  [[nodiscard]] std::optional<Error> finish();

 private:
  class Teller;

  [[nodiscard]] Result<std::unique_ptr<Teller>> make_teller(const WatchOptions& options) const;
  [[nodiscard]] std::optional<Error> ask_all(bool is_on);
  Result<Json> turn_on(const std::string& filter);
  Result<Json> turn_off();

  lb::Config lb_config_;
  Config config_;
  std::unique_ptr<Teller> teller_;  // while something is watched
};

}  // namespace roost::lb

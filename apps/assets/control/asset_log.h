// The log of assets: a line of JSON for each host and each service when it is found.
//
// Workers write records into their rings; this reads them ten times a second, in a thread of its
// own, and writes the file. What several workers found is written once: a table as large as all of
// theirs says what was written already.
#pragma once

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "apps/assets/config/config.h"
#include "apps/assets/control/asset_json.h"
#include "roost/assets/observer.h"
#include "roost/control/event_log.h"

namespace roost::assets {

class AssetLog {
 public:
  // Of a configuration without a log, it does nothing. The states must outlive it.
  AssetLog(const Config& config, const std::vector<Observer*>& states, const TickTime& time,
           control::TellEvent tell);
  AssetLog(const AssetLog&) = delete;
  AssetLog& operator=(const AssetLog&) = delete;
  ~AssetLog();  // what the rings still hold is written

  // Opens the file and begins. Errors: it cannot be opened, or memory is unavailable.
  [[nodiscard]] std::optional<Error> start();
  // Opens the file of this name, which may be another one by now. Any thread.
  [[nodiscard]] std::optional<Error> reopen();

 private:
  void run(const std::stop_token& stop);
  void write_new();
  [[nodiscard]] bool is_known(const Discovery& discovery);

  const std::string path_;
  const AssetTable::Config known_config_;
  const TickTime time_;
  const control::TellEvent tell_;
  std::vector<SpscRing<Discovery>*> rings_{};
  std::mutex mutex_;  // of the file and what it knows
  std::ofstream file_;
  bool has_failed_ = false;
  std::optional<AssetTable> known_{};  // with several workers
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace roost::assets

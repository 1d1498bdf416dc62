// Commands of DPDK's telemetry, which answers on a socket of its own (dpdk-telemetry.py).
//
// DPDK's callback has no argument for its owner, and a command once registered stays: so the
// commands of a process are kept here, by path, and one that has ended replies with nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace roost::io {

// A name of letters, digits, '_' and '/', and its value.
using TelemetryEntry = std::pair<std::string, std::variant<uint64_t, std::string>>;
// Called on a thread of DPDK's with what stands behind the comma: "/roost/stats,1" gives "1".
using TelemetryAnswer = std::function<std::vector<TelemetryEntry>(std::string_view parameter)>;

// DPDK's limit of a reply, and one for itself: what is beyond it is left out.
inline constexpr size_t kTelemetryEntriesMax = 256;

class TelemetryCommand {
 public:
  // The command answers from now on, until this object goes. A path is used by one object at a
  // time. False from is_registered(): DPDK did not take it.
  TelemetryCommand(const std::string& path, const std::string& help, TelemetryAnswer answer);
  TelemetryCommand(TelemetryCommand&& from) noexcept : path_(std::exchange(from.path_, {})) {}
  TelemetryCommand& operator=(TelemetryCommand&&) = delete;
  ~TelemetryCommand();  // waits for an answer that is under way

  [[nodiscard]] bool is_registered() const { return !path_.empty(); }

 private:
  std::string path_;
};

}  // namespace roost::io

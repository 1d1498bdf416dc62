// What a run of the switch did, in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/switch/datapath/state.h"
#include "roost/base/counter.h"
#include "roost/control/json.h"
#include "roost/control/run_report.h"
#include "roost/control/sample_request.h"

namespace roost::switching {

// What is in the forwarding database now.
struct FdbReport : bridge::FdbCounters {
  uint64_t entries = 0;
  uint64_t static_entries = 0;
  uint64_t moving = 0;
  std::vector<uint64_t> entries_of{};  // learned, by port
};

inline constexpr std::array kFdbReportCounters = {
    Counter{"entries", &FdbReport::entries, "learned entries now"},
    Counter{"static_entries", &FdbReport::static_entries, "static entries now"},
    Counter{"moving", &FdbReport::moving, "addresses that moved lately"},
};

struct Report : control::RunReport {
  bridge::SwitchCounters frames{};
  bridge::LearnCounters learning{};
  FdbReport fdb{};
  Tick now{};  // of the worker that is ahead
};

// Every number of a worker.
class SampleRequest final : public control::SampleRequest {
 public:
  SampleRequest(const control::WorkerHandle& worker, const State& state, size_t port_count)
      : control::SampleRequest(worker, port_count), state_(state) {}
  bool step() override;

  bridge::SwitchCounters frames{};
  bridge::LearnCounters learning{};
  Tick now{};

 private:
  const State& state_;
};
// The ports are added up afterwards (control::add_up_ports).
void add(const SampleRequest& request, Report& report);

// What the database has; it waits for whoever is writing.
[[nodiscard]] FdbReport report_fdb(bridge::Fdb& fdb, size_t port_count, Tick now);

// One state a worker, one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, node::RunTotals run);

[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);
[[nodiscard]] control::Json report_json(const Report& report);

}  // namespace roost::switching

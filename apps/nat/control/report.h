// What a run of the NAT did, in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/nat/datapath/state.h"
#include "roost/base/counter.h"
#include "roost/control/json.h"
#include "roost/control/route_report.h"
#include "roost/control/run_report.h"
#include "roost/control/tracker_report.h"
#include "roost/net/drop_cause.h"
#include "roost/routing/forwarder.h"

namespace roost::nat {

// A router's causes, those of connections and fragments, and the NAT's own.
inline constexpr auto kDropCauses = [] {
  constexpr std::array kOfConnections = {net::drop_cause_info(net::DropCause::kFragmentOverlap),
                                         net::drop_cause_info(net::DropCause::kFragmentTableFull),
                                         net::drop_cause_info(net::DropCause::kUnsupportedProtocol),
                                         net::drop_cause_info(net::DropCause::kBadIcmp),
                                         net::drop_cause_info(net::DropCause::kIcmpNoFlow),
                                         net::drop_cause_info(net::DropCause::kNoFlow),
                                         net::drop_cause_info(net::DropCause::kTableFull),
                                         net::drop_cause_info(net::DropCause::kHandoffFull)};
  std::array<net::DropCauseInfo,
             routing::kForwarderDropCauses.size() + kOfConnections.size() + kNatDropCauses.size()>
      all{};
  auto next = std::ranges::copy(routing::kForwarderDropCauses, all.begin()).out;
  next = std::ranges::copy(kOfConnections, next).out;
  std::ranges::copy(kNatDropCauses, next);
  return all;
}();

// What a worker translated and knows.
struct Work {
  TranslationCounters translations{};
  conntrack::MappingCounters mappings{};
  uint64_t mappings_live = 0;
  control::TrackerReport tracker{};

  Work& operator+=(const Work& other);
};
// `counts_live`: whether what lives is counted one by one, which takes time.
[[nodiscard]] Work work_of(State& state, bool counts_live);

struct Report : control::RunReport {
  control::RouteReport routes{};
  Work work{};
};

// Every number of a worker.
class NatSample final : public control::RoutedSampleRequest {
 public:
  NatSample(const control::WorkerHandle& worker, State& state, size_t port_count)
      : RoutedSampleRequest(worker, state.routes(), port_count), state_(state) {}
  bool step() override {
    work = work_of(state_, false);
    return RoutedSampleRequest::step();
  }

  Work work{};

 private:
  State& state_;
};

// One state a worker, one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, node::RunTotals run);

[[nodiscard]] control::Json report_json(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);

}  // namespace roost::nat

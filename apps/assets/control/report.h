// What a run of the observer did, in numbers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "roost/assets/observer.h"
#include "roost/base/counter.h"
#include "roost/control/json.h"
#include "roost/control/run_report.h"
#include "roost/control/sample_request.h"

namespace roost::assets {

// What is there now.
struct StockReport {
  uint64_t hosts = 0;
  uint64_t services = 0;
  uint64_t bytes = 0;
};
inline constexpr std::array kStockCounters = {
    Counter{"hosts", &StockReport::hosts, "hosts now, of all workers"},
    Counter{"services", &StockReport::services, "services of them"},
    Counter{"bytes", &StockReport::bytes, "bytes of tables"}};
static_assert(lists_all(kStockCounters));

struct Report : control::RunReport {
  FrameCounters frames{};
  AssetCounters assets{};
  StockReport stock{};
};
// `counts_each`: whether services are counted one by one, which takes time.
void add_observed(const Observer& state, bool counts_each, Report& report);

class SampleRequest final : public control::SampleRequest {
 public:
  SampleRequest(const control::WorkerHandle& worker, const Observer& state, size_t port_count)
      : control::SampleRequest(worker, port_count), state_(state) {}
  bool step() override {
    read();
    add_observed(state_, false, observed);
    return true;
  }

  Report observed{};  // nothing else of it

 private:
  const Observer& state_;
};

// One state a worker, one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<Observer* const> states, node::RunTotals run);

[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);
[[nodiscard]] control::Json report_json(const Report& report);

}  // namespace roost::assets

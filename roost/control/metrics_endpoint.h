// A function's numbers over HTTP: GET /metrics, in OpenMetrics' text format 1.0 for clients that
// accept it, else in Prometheus' 0.0.4. It runs in threads of its own, beside the workers.
//
// The families are prometheus-cpp's and so is the older format; it cannot write the newer one.
#pragma once

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "roost/base/result.h"

namespace roost::control {

using MetricFamilies = std::vector<prometheus::MetricFamily>;

// The families in OpenMetrics' text format. They must be counters, whose names end in "_total", and
// gauges, whose names do not.
[[nodiscard]] std::string open_metrics(const MetricFamilies& families);

class MetricsEndpoint {
 public:
  // Called for each request, on several threads at a time.
  using Collect = std::function<MetricFamilies()>;

  // Listens from now on at ADDRESS:PORT. An error: it cannot be bound.
  static Result<MetricsEndpoint> start(const std::string& address, Collect collect);

  MetricsEndpoint(MetricsEndpoint&&) noexcept;
  MetricsEndpoint& operator=(MetricsEndpoint&&) = delete;
  ~MetricsEndpoint();  // waits for the requests that are under way

 private:
  class Server;
  explicit MetricsEndpoint(std::unique_ptr<Server> server);

  std::unique_ptr<Server> server_;
};

}  // namespace roost::control

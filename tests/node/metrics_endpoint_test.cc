// OpenMetrics' text, letter by letter. That a reader of another project takes it, and that the
// endpoint gives each client the format that it accepts: tests/ctl.
#include "roost/node/metrics_endpoint.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace roost::node {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

prometheus::ClientMetric counted(Labels labels, double value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  return metric;
}

MetricFamilies two_families() {
  prometheus::ClientMetric live;
  live.gauge.value = 7;
  return {{"drops_total",
           "Dropped, \"by cause\":\nall \\ of them.",
           prometheus::MetricType::Counter,
           {counted({{"cause", "no_flow"}, {"port", "0"}}, 3),
            counted({{"cause", "a \"quoted\" \\ name"}}, 9'007'199'254'740'992.0)}},
          {"flows_live", "Connections.", prometheus::MetricType::Gauge, {live}}};
}

TEST(OpenMetrics, NamesACounterWithoutItsSuffixAndItsValuesWithIt) {
  EXPECT_EQ(open_metrics(two_families()),
            "# TYPE drops counter\n"
            "# HELP drops Dropped, \\\"by cause\\\":\\nall \\\\ of them.\n"
            "drops_total{cause=\"no_flow\",port=\"0\"} 3\n"
            "drops_total{cause=\"a \\\"quoted\\\" \\\\ name\"} 9007199254740992\n"
            "# TYPE flows_live gauge\n"
            "# HELP flows_live Connections.\n"
            "flows_live 7\n"
            "# EOF\n");
}

TEST(OpenMetrics, EndsEvenWhenThereIsNothing) { EXPECT_EQ(open_metrics({}), "# EOF\n"); }

TEST(OpenMetrics, AFamilyWithoutValuesIsNamed) {
  EXPECT_EQ(open_metrics({{"idle_total", "None yet.", prometheus::MetricType::Counter, {}}}),
            "# TYPE idle counter\n# HELP idle None yet.\n# EOF\n");
}

TEST(MetricsEndpoint, AnAddressThatCannotBeHadIsAnError) {
  const auto started = MetricsEndpoint::start("192.0.2.1:9", [] { return MetricFamilies{}; });
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("192.0.2.1:9"), std::string::npos);
}

}  // namespace
}  // namespace roost::node

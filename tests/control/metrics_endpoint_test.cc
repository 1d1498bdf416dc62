// OpenMetrics' text, letter by letter. That a reader of another project takes it, and that the
// endpoint gives each client the format that it accepts: tests/ctl.
#include "roost/control/metrics_endpoint.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/file_descriptor.h"
#include "roost/control/metrics.h"

namespace roost::control {
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

TEST(MetricList, MakesAFamilyOfEachCounterThatNamesItsMetric) {
  struct Counts {
    uint64_t made = 0;
    uint64_t lost = 0;
    uint64_t kept = 0;
  };
  constexpr std::array kCounts = {
      Counter{"made", &Counts::made, "frames that the {} made"}.with_metric("made_frames"),
      Counter{"lost", &Counts::lost, "frames that were lost"},
      Counter{"kept", &Counts::kept, "frames kept now"}.with_metric("kept_frames")};
  const std::array<Counts, 2> rows = {{{1, 2, 3}, {4, 5, 6}}};
  MetricList out("roost_lb_", "balancer");
  const auto each = [&](auto&& value_of) {
    for (const Counts& row : rows) out.add({{"row", row.made == 1 ? "a" : "b"}}, value_of(row));
  };
  out.add_families<Counts>(std::span(kCounts).first<2>(), each);
  out.add_families<Counts>(std::span(kCounts).last<1>(), each, prometheus::MetricType::Gauge);
  EXPECT_EQ(open_metrics(out.take()),
            "# TYPE roost_lb_made_frames counter\n"
            "# HELP roost_lb_made_frames Frames that the balancer made.\n"
            "roost_lb_made_frames_total{row=\"a\"} 1\n"
            "roost_lb_made_frames_total{row=\"b\"} 4\n"
            "# TYPE roost_lb_kept_frames gauge\n"
            "# HELP roost_lb_kept_frames Frames kept now.\n"
            "roost_lb_kept_frames{row=\"a\"} 3\n"
            "roost_lb_kept_frames{row=\"b\"} 6\n"
            "# EOF\n");
}

TEST(OpenMetrics, EndsEvenWhenThereIsNothing) { EXPECT_EQ(open_metrics({}), "# EOF\n"); }

TEST(OpenMetrics, AFamilyWithoutValuesIsNamed) {
  EXPECT_EQ(open_metrics({{"idle_total", "None yet.", prometheus::MetricType::Counter, {}}}),
            "# TYPE idle counter\n# HELP idle None yet.\n# EOF\n");
}

// A TCP connection to the endpoint on this machine.
class Scraper {
 public:
  explicit Scraper(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    is_connected =
        connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  void send(std::string_view text) const {
    EXPECT_EQ(::send(socket_.number(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Up to the end of the connection.
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, 4'096> bytes;
    ssize_t count = 0;
    while ((count = recv(socket_.number(), bytes.data(), bytes.size(), 0)) > 0) {
      text.append(bytes.data(), static_cast<size_t>(count));
    }
    return text;
  }
  bool is_connected = false;

 private:
  FileDescriptor socket_;
};

constexpr uint16_t kPort = 19'178;
constexpr std::string_view kAddress = "127.0.0.1:19178";

TEST(MetricsEndpoint, AScrapeDoesNotWaitBehindSlowClients) {
#ifdef __SANITIZE_THREAD__
  std::puts(
      "NOT TESTED: several scrapes at once under the thread sanitizer: civetweb writes dates "
      "by gmtime(), which is not safe in several threads");
  GTEST_SKIP();
#endif
  const auto endpoint = MetricsEndpoint::start(std::string(kAddress), two_families);
  ASSERT_TRUE(endpoint.ok()) << endpoint.error().message;
  // They say half of a request, or nothing, and then no more.
  std::vector<std::unique_ptr<Scraper>> slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(std::make_unique<Scraper>(kPort));
    ASSERT_TRUE(slow.back()->is_connected);
    if (i % 2 == 0) slow.back()->send("GET /metrics HTTP/1.1\r\nHost: ");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto began = std::chrono::steady_clock::now();
  const Scraper scraper(kPort);
  scraper.send("GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_NE(scraper.read().find("flows_live 7"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
}

TEST(MetricsEndpoint, AnAddressThatCannotBeHadIsAnError) {
  const auto started = MetricsEndpoint::start("192.0.2.1:9", [] { return MetricFamilies{}; });
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("192.0.2.1:9"), std::string::npos);
}

}  // namespace
}  // namespace roost::control

#include "roost/control/metrics_endpoint.h"

#include <CivetServer.h>
#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "roost/base/assert.h"

namespace roost::control {

namespace {

constexpr std::string_view kTotal = "_total";
// A thread serves one client at a time, so this is how many may be slow before a scrape waits. Each
// has so long for its request, and for reading a part of the answer; it is no longer connected
// then.
constexpr const char* kThreads = "64";
constexpr const char* kRequestMilliseconds = "5000";

// A help text between "# HELP name " and the end of its line.
std::string escaped(std::string_view help) {
  std::string line;
  for (const char c : help) {
    if (c == '\n') {
      line += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line;
}

// The values of a family, a line each; they are the same in both formats. Before them the older one
// has the type, and a help text if there is any.
std::string samples_of(prometheus::MetricFamily family) {
  family.help.clear();
  const std::string text = prometheus::TextSerializer().Serialize({std::move(family)});
  return text.substr(text.find('\n') + 1);
}

class Scrape final : public CivetHandler {
 public:
  explicit Scrape(MetricsEndpoint::Collect collect) : collect_(std::move(collect)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override {
    const char* accepted = CivetServer::getHeader(connection, "Accept");
    const bool is_open =
        accepted != nullptr &&
        std::string_view(accepted).find("application/openmetrics-text") != std::string_view::npos;
    const MetricFamilies families = collect_();
    const std::string body =
        is_open ? open_metrics(families) : prometheus::TextSerializer().Serialize(families);
    mg_send_http_ok(connection,
                    is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                            : "text/plain; version=0.0.4; charset=utf-8",
                    static_cast<long long>(body.size()));
    mg_write(connection, body.data(), body.size());
    return true;
  }

 private:
  MetricsEndpoint::Collect collect_;
};

}  // namespace

std::string open_metrics(const MetricFamilies& families) {
  std::string text;
  for (const prometheus::MetricFamily& family : families) {
    const bool is_counter = family.type == prometheus::MetricType::Counter;
    ROOST_ASSERT(is_counter || family.type == prometheus::MetricType::Gauge);
    ROOST_ASSERT(family.name.ends_with(kTotal) == is_counter);
    std::string_view name = family.name;
    if (is_counter) name.remove_suffix(kTotal.size());
    fmt::format_to(std::back_inserter(text), "# TYPE {0} {1}\n# HELP {0} {2}\n{3}", name,
                   is_counter ? "counter" : "gauge", escaped(family.help), samples_of(family));
  }
  return text + "# EOF\n";
}

class MetricsEndpoint::Server {
 public:
  // Throws CivetException.
  Server(const std::string& address, Collect collect)
      : scrape_(std::move(collect)),
        server_(std::vector<std::string>{"listening_ports", address, "num_threads", kThreads,
                                         "request_timeout_ms", kRequestMilliseconds}) {
    server_.addHandler("/metrics", scrape_);
  }

 private:
  Scrape scrape_;  // outlives the server's threads
  CivetServer server_;
};

Result<MetricsEndpoint> MetricsEndpoint::start(const std::string& address, Collect collect) {
  try {
    return MetricsEndpoint(std::make_unique<Server>(address, std::move(collect)));
  } catch (const CivetException&) {  // its reason is a pointer that says "null context"
    return Error{"nothing can listen at " + address +
                 "; is the address this machine's, and the port free?"};
  }
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Server> server) : server_(std::move(server)) {}
MetricsEndpoint::MetricsEndpoint(MetricsEndpoint&&) noexcept = default;
MetricsEndpoint::~MetricsEndpoint() = default;

}  // namespace roost::control

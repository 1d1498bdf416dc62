// The balancer's numbers for Prometheus and whoever reads its text format, OpenMetrics' ancestor:
// an HTTP endpoint, GET /metrics. The numbers are those of the control's sample, taken for each
// request.
#pragma once

#include <memory>
#include <string>

#include "apps/lb/control.h"
#include "roost/base/result.h"

namespace roost::lb {

class Metrics {
 public:
  // Listens from now on at ADDRESS:PORT; `control` must outlive this object. An error: the address
  // cannot be had.
  static Result<Metrics> start(const std::string& endpoint, Control& control);

  Metrics(Metrics&&) noexcept;
  Metrics& operator=(Metrics&&) = delete;
  ~Metrics();  // waits for the requests that are under way

 private:
  struct Endpoint;
  explicit Metrics(std::unique_ptr<Endpoint> endpoint);

  std::unique_ptr<Endpoint> endpoint_;
};

}  // namespace roost::lb

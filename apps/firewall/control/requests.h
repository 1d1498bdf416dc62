// What the control thread asks of workers about rules, connections and the log.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "apps/firewall/control/report.h"
#include "apps/firewall/datapath/state.h"
#include "roost/control/route_report.h"
#include "roost/control/rule_report.h"
#include "roost/control/sample_request.h"
#include "roost/node/mailbox.h"
#include "roost/table/cursor.h"

namespace roost::firewall {

// Every number of a worker.
class SampleRequest final : public control::RoutedSampleRequest {
 public:
  SampleRequest(const control::WorkerHandle& worker, State& state, size_t port_count,
                size_t rule_count)
      : control::RoutedSampleRequest(worker, state.routes(), port_count), state_(state) {
    work.rules.resize(rule_count);
  }
  bool step() override {
    report_work(state_, false, work);
    return control::RoutedSampleRequest::step();
  }

  WorkReport work{};

 private:
  State& state_;
};

// Puts other rules in force, with other timeouts; what they replace is the request's afterwards,
// and so is the log that they made.
class ExchangeRequest final : public node::Request {
 public:
  ExchangeRequest(State& state, std::unique_ptr<acl::RuleSet> rules, const Config& config)
      : state_(state),
        rules_(std::move(rules)),
        timeouts_(config.timeouts),
        picks_up_(config.picks_up) {}
  bool step() override {
    if (!std::exchange(is_done_, true)) exchange();
    return true;
  }
  [[nodiscard]] std::span<const acl::DecisionRecord> records() const { return log_.records(); }

 private:
  void exchange() {
    (void)log_.step();
    state_.exchange(rules_, timeouts_, picks_up_);
  }

  State& state_;
  control::LogRequest log_{state_.log()};
  std::unique_ptr<acl::RuleSet> rules_;
  conntrack::StateTimeouts timeouts_;
  bool picks_up_;
  bool is_done_ = false;
};

// Ends the connections that the rules in force would not allow, a stretch of the table at a time.
class RecheckRequest final : public node::Request {
 public:
  explicit RecheckRequest(State& state) : state_(state) {}
  bool step() override;

  uint64_t ended = 0;

 private:
  static constexpr uint64_t kBucketsOfStep = 64;

  template <class Address>
  [[nodiscard]] bool walk();

  State& state_;
  size_t family_ = 0;
  Cursor cursor_{};
};

}  // namespace roost::firewall

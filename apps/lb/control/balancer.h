// The load balancer, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/control/announcer.h"
#include "apps/lb/control/command_list.h"
#include "apps/lb/control/control.h"
#include "apps/lb/control/flow_note.h"
#include "apps/lb/control/health.h"
#include "apps/lb/control/report.h"
#include "apps/lb/datapath/datapath.h"
#include "apps/lb/datapath/state.h"
#include "apps/lb/takeover/takeover.h"
#include "roost/control/etcd_watch.h"
#include "roost/control/function_names.h"
#include "roost/control/metrics_endpoint.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::lb {

struct Balancer {
  using Config = lb::Config;
  using State = lb::State;
  using Datapath = lb::Datapath;
  using Report = lb::Report;

  static constexpr control::FunctionNames kNames = {"lb", "balancer", "[table] connections"};

  static std::span<const Command> commands() { return command_list(); }
  static ConfigOutcome read_config(const std::string& path) { return lb::read_config(path); }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, node::RunPlan& plan);
  static Result<State> create_state(const Config& config, const node::WorkerSeat& seat);
  static trace::TraceWords trace_words();

  class Running {
   public:
    Running(const Config& config, control::Control::Config control, std::vector<State*> states);
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() = default;

    [[nodiscard]] control::Control& control() { return control_; }
    [[nodiscard]] control::MetricFamilies metrics();
    // Checks, routes and the store, unless another process still has the connections: then they
    // start when this one has.
    std::optional<Error> on_started();
    void leave();
    void ended() {}
    // How one process goes on with what another one has; nothing without a directory for it.
    [[nodiscard]] std::optional<Error> take_over(std::span<const io::Port> ports,
                                                 Takeover::Hooks hooks);
    [[nodiscard]] bool goes_on();
    void end_takeovers();

   private:
    std::optional<Error> start_beside();
    std::optional<Error> begin_announcing();
    void follow_etcd();

    const Config& config_;
    bool is_replay_;
    std::mutex beside_mutex_{};  // a stop can come while they start on the takeover's thread
    std::unique_ptr<Announcer> announcer_{};  // null: routers are told by nobody
    Control control_;
    HealthChecks checks_;
    std::unique_ptr<control::EtcdWatch> etcd_{};  // null: weights are the file's
    std::vector<State*> states_;
    Takeover* takeover_;  // null: there is no directory for it
  };

  static constexpr size_t kStatusCount = kFlowCounters.size();
  static std::array<uint64_t, kStatusCount> status(const State& state);
  static std::string status_text(const std::array<uint64_t, kStatusCount>& now,
                                 const std::array<uint64_t, kStatusCount>& before);
  static Report make_report(std::span<State* const> states, node::RunTotals totals) {
    return lb::make_report(states, std::move(totals));
  }
};

}  // namespace roost::lb

#include "lab/functions/function_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lab/functions/firewall_holder.h"
#include "lab/functions/nat_holder.h"
#include "lab/lb/balancer_holder.h"
#include "lab/lb/raw_parsing.h"
#include "lab/packets/port_bench.h"
#include "lab/packets/raw_holder.h"
#include "lab/packets/raw_io.h"

namespace roost::lab {
namespace {

class FunctionJob {
 public:
  FunctionJob(const FunctionJobConfig& config, const Progress& progress)
      : config_(config),
        progress_(progress),
        bench_({.experiment = config.experiment,
                .pages = config.pages,
                .cores = {config.core},
                .rounds = config.rounds,
                .packets = config.packets,
                .seed = config.seed,
                .frames = config.flows,
                .frame_bytes = kFrameBytes},
               progress) {}

  Result<Rows> run() {
    const auto write = [this](CaptureFiles& files) {
      for (uint64_t flow = 0; flow < config_.flows; ++flow) files.write(0, request_of(flow));
    };
    if (auto error = bench_.open(write)) return *error;
    add_raw<RawIo>("raw_io");
    add_raw<RawIoAndParse>("raw_io_parse");
    if (auto error = config_.experiment == "nat" ? add_nats() : add_firewalls()) return *error;
    bench_.warm_up();
    if (auto error = bench_.wrong()) return *error;
    Rows rows = bench_.time_all([this](RecordRow& row) {
      row.workload = "uniform";
      row.slots = config_.flows;
      row.entries = config_.flows;
      row.key_bytes = net::FlowKey4::kSignificantBytes;
      row.value_bytes = sizeof(conntrack::Connection);
    });
    if (auto error = bench_.wrong()) return *error;
    return rows;
  }

 private:
  template <class RawFunction>
  void add_raw(const char* name) {
    std::vector<std::unique_ptr<RawHolder<RawFunction>>> holders;
    holders.push_back(std::make_unique<RawHolder<RawFunction>>());
    bench_.add(name, std::move(holders));
  }

  // With connections of so many flows from the first one on, in another order than packets have.
  template <class Holder>
  std::optional<Error> add(const std::string& name, Result<std::unique_ptr<Holder>> made,
                           uint64_t first_flow = 0) {
    progress_(0.2, name + ": every flow once");
    if (!made) return Error{fmt::format("{}: {}", name, made.error().message)};
    std::vector<std::unique_ptr<Holder>> holders;
    holders.push_back(std::move(made).value());
    if (auto error = wrong_pages(name, config_.pages, holders[0]->page_kind())) return error;
    std::vector<uint32_t> flows(config_.flows);
    std::iota(flows.begin(), flows.end(), static_cast<uint32_t>(first_flow));
    std::ranges::shuffle(flows, std::mt19937_64(config_.seed));
    if (auto error = holders[0]->fill(flows, bench_.now()))
      return Error{fmt::format("{}: {}", name, error->message)};
    bench_.add(name, std::move(holders));
    return {};
  }

  template <class Holder>
  Result<std::unique_ptr<Holder>> make_firewall() {
    auto firewall = Firewall::create(
        {.connections = config_.flows, .hash_seed = config_.seed, .rules = config_.rules});
    if (!firewall) return firewall.error();
    return std::make_unique<Holder>(std::move(firewall).value());
  }
  Result<std::unique_ptr<BalancerHolder<conntrack::OwnTables>>> make_balancer() {
    using Tables = conntrack::OwnTables;
    auto balancer = Balancer<Tables>::create(
        {.connections = config_.flows, .hash_seed = config_.seed, .timeouts = kPacketTimeouts});
    if (!balancer) return balancer.error();
    return std::make_unique<BalancerHolder<Tables>>(std::move(balancer).value());
  }

  std::optional<Error> add_firewalls() {
    if (auto error = add("balancer", make_balancer())) return error;
    if (auto error = add("firewall", make_firewall<FirewallHolder>())) return error;
    // Its table is as full, of other flows than the packets'.
    return add("firewall_denied", make_firewall<DenyingFirewallHolder>(), config_.flows);
  }
  std::optional<Error> add_nats() {
    const NatSettings settings{.mappings = config_.flows, .hash_seed = config_.seed};
    using Own = conntrack::OwnTables;
    if (auto error = add("nat", NatHolder<Own>::create(settings, Own{}))) return error;
    return add("nat_on_rte_hash", NatHolder<RecordTables>::create(
                                      settings, RecordTables{.kind = store_kind("rte_hash")}));
  }

  const FunctionJobConfig& config_;
  const Progress& progress_;
  PortBench bench_;
};

}  // namespace

Result<Rows> run_function_job(const FunctionJobConfig& config, const Progress& progress) {
  return FunctionJob(config, progress).run();
}

}  // namespace roost::lab

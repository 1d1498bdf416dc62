#include "lab/lb/packet_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "lab/lb/balancer_holder.h"
#include "lab/lb/raw_parsing.h"
#include "lab/lb/record_balancer.h"
#include "lab/packets/port_bench.h"
#include "lab/packets/raw_holder.h"
#include "lab/packets/raw_io.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/zipf.h"

namespace roost::lab {
namespace {

class PacketJob {
 public:
  PacketJob(const PacketJobConfig& config, const Progress& progress)
      : config_(config),
        progress_(progress),
        flows_of_(config.cores.size()),
        bench_({.experiment = config.experiment,
                .pages = config.pages,
                .cores = config.cores,
                .rounds = config.rounds,
                .packets = config.packets,
                .seed = config.seed,
                .frames = config.flows,
                .frame_bytes = kFrameBytes},
               progress) {}

  Result<Rows> run() {
    if (auto error = bench_.open([this](CaptureFiles& files) { write(files); })) return *error;
    if (auto error = make_runners()) return *error;
    bench_.warm_up();
    if (auto error = bench_.wrong()) return *error;
    Rows rows = bench_.time_all([this](RecordRow& row) {
      row.workload = is_skewed() ? fmt::format("zipf {}", config_.zipf_exponent) : "uniform";
      row.slots = config_.flows;
      row.entries = config_.flows;
      row.key_bytes = net::FlowKey4::kSignificantBytes;
      row.value_bytes = sizeof(lb::Connection);
    });
    if (auto error = bench_.wrong()) return *error;
    return rows;
  }

 private:
  [[nodiscard]] size_t worker_count() const { return config_.cores.size(); }
  [[nodiscard]] bool is_skewed() const { return config_.zipf_exponent > 0; }
  [[nodiscard]] node::FlowOwner owner(size_t worker) const {
    return node::FlowOwner(
        {.worker_count = worker_count(), .worker = worker, .seed = config_.seed + 1});
  }

  // Each flow to the worker that owns it. Flows arrive in another order than their packets come in
  // later: else a table that numbers its entries as they arrive, as rte_hash does, would find the
  // next packet's entry beside the last's.
  void write(CaptureFiles& files) {
    const node::FlowOwner any = owner(0);
    traffic::Draw draw(config_.seed);
    const traffic::Zipf zipf(config_.flows, config_.zipf_exponent);
    for (uint64_t flow = 0; flow < config_.flows; ++flow) {
      flows_of_[any.owner_of(client_of(flow))].push_back(static_cast<uint32_t>(flow));
      const uint64_t of_packet = is_skewed() ? zipf.rank(draw) - 1 : flow;
      files.write(any.owner_of(client_of(of_packet)), request_of(of_packet));
    }
    for (std::vector<uint32_t>& flows : flows_of_)
      std::ranges::shuffle(flows, std::mt19937_64(config_.seed));
  }

  template <class RawFunction>
  void add_raw(const char* name) {
    std::vector<std::unique_ptr<RawHolder<RawFunction>>> holders;
    for (size_t worker = 0; worker < worker_count(); ++worker)
      holders.push_back(std::make_unique<RawHolder<RawFunction>>());
    bench_.add(name, std::move(holders));
  }

  template <class Tables>
  std::optional<Error> add_balancer(const char* name, const Tables& tables) {
    progress_(0.2, std::string(name) + ": every flow once");
    std::vector<std::unique_ptr<BalancerHolder<Tables>>> holders;
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      auto balancer = Balancer<Tables>::create({.connections = flows_of_[worker].size(),
                                                .hash_seed = config_.seed,
                                                .timeouts = kPacketTimeouts},
                                               owner(worker), tables);
      if (!balancer) return Error{fmt::format("{}: {}", name, balancer.error().message)};
      holders.push_back(std::make_unique<BalancerHolder<Tables>>(std::move(balancer).value()));
      if (auto error = wrong_pages(name, config_.pages, holders.back()->page_kind())) return error;
      if (auto error = holders.back()->fill(flows_of_[worker], bench_.now())) return error;
    }
    bench_.add(name, std::move(holders));
    return {};
  }

  std::optional<Error> make_runners() {
    add_raw<RawIo>("raw_io");
    add_raw<RawIoAndParse>("raw_io_parse");
    if (auto error = add_balancer("balancer", conntrack::OwnTables{})) return error;
    if (!config_.peers) return {};
    return add_balancer("balancer_on_rte_hash", RecordTables{.kind = store_kind("rte_hash")});
  }

  const PacketJobConfig& config_;
  const Progress& progress_;
  std::vector<std::vector<uint32_t>> flows_of_;  // by worker
  PortBench bench_;
};

}  // namespace

Result<Rows> run_packet_job(const PacketJobConfig& config, const Progress& progress) {
  return PacketJob(config, progress).run();
}

}  // namespace roost::lab

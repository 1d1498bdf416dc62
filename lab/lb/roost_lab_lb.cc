// The measuring program of the experiments `lb` and `2021-conntrack`. lab/lab.py calls it once a
// job, as it does roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lab/contestants/eal.h"
#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/lb/cell_job.h"
#include "lab/lb/cell_tables.h"
#include "lab/lb/common_job.h"
#include "lab/lb/flows.h"
#include "lab/lb/packet_job.h"
#include "lab/lb/serve_job.h"
#include "lab/lb/soak_job.h"
#include "lab/lb/timer_job.h"
#include "lab/packets/capture_files.h"
#include "lab/packets/port_bench.h"
#include "lab/store/common_values.h"

namespace roost::lab {
namespace {

// What every job is told.
struct Common {
  std::string experiment;
  std::string pages = "4K";
  std::string csv;
  int core = -1;
  size_t core_count = 1;
};

void add_common(CLI::App& command, Common& common) {
  command.add_option("--experiment", common.experiment, "Its name in the record")->required();
  command.add_option("--pages", common.pages, "Kind of pages, for every contestant")
      ->check(CLI::IsMember(kBenchPages));
  command.add_option("--core", common.core, "The first measuring core; the last allowed one");
  command.add_option("--csv", common.csv, "File to write")->required();
}

int write(const Result<Rows>& rows, const Common& common) {
  const auto wrong = write_rows(rows, common.csv);
  return wrong ? fail(wrong->message) : 0;
}

// DPDK's heap for tables of so many entries.
[[nodiscard]] Result<Eal> start_eal(int core, PageKind pages, uint64_t entries) {
  return Eal::start(
      {.core = core, .pages = pages, .memory_bytes = entries * 256 + (uint64_t{256} << 20)});
}

void add_packets(CLI::App& app, Common& common, PacketJobConfig& packets) {
  auto* command = app.add_subcommand("packets", "See lab/lb/packet_job.h");
  add_common(*command, common);
  command->add_option("--flows", packets.flows, "Flows of all workers")
      ->check(CLI::Range(uint64_t{1}, kFlowsMax))
      ->required();
  command->add_option("--packets", packets.packets, "A pass, of each worker")->required();
  command->add_option("--cores", common.core_count, "How many workers");
  command->add_option("--rounds", packets.rounds, "Timed rounds");
  command->add_option("--zipf", packets.zipf_exponent, "Of the flows that packets are of; 0: even");
  command->add_flag("--peers,!--no-peers", packets.peers, "Whether rte_hash takes part");
}

int run_packets(const Common& common, std::vector<int> cores, PacketJobConfig& packets) {
  packets.experiment = common.experiment;
  packets.pages = kBenchPages.at(common.pages);
  packets.cores = std::move(cores);
  return write(run_packet_job(packets, say_progress), common);
}

void add_soak(CLI::App& app, Common& common, SoakJobConfig& soak) {
  auto* command = app.add_subcommand("soak", "See lab/lb/soak_job.h");
  add_common(*command, common);
  command->add_option("--cell", soak.cell, "On which tables")->check(CLI::IsMember(cell_names()));
  command->add_option("--connections", soak.connections, "That the tables take")->required();
  command->add_option("--cores", common.core_count, "How many workers");
  command->add_option("--seconds", soak.seconds, "How long")->required();
}

int run_soak(const Common& common, std::vector<int> cores, SoakJobConfig& soak) {
  soak.experiment = common.experiment;
  soak.cores = std::move(cores);
  const auto eal = start_eal(soak.cores.front(), kBenchPages.at(common.pages), soak.connections);
  if (!eal) return fail(eal.error().message);
  return write(run_soak_job(soak, say_progress), common);
}

const std::map<std::string, traffic::LengthLaw> kLengthLaws = {
    {"fixed", traffic::LengthLaw::kFixed},
    {"zipf", traffic::LengthLaw::kZipf},
    {"pareto", traffic::LengthLaw::kPareto}};
const std::map<std::string, traffic::ArrivalLaw> kArrivalLaws = {
    {"poisson", traffic::ArrivalLaw::kPoisson},
    {"paced", traffic::ArrivalLaw::kPaced},
    {"bursts", traffic::ArrivalLaw::kBursts}};

struct CellOptions {
  CellJobConfig job;
  std::string profile = std::string(traffic::kCampusLike.name);
  std::optional<uint64_t> flows;
  std::optional<double> seconds, flow_seconds, mean;
  std::optional<traffic::LengthLaw> law;
};

void add_cells(CLI::App& app, Common& common, CellOptions& options) {
  CellJobConfig& job = options.job;
  auto* command = app.add_subcommand("cells", "See lab/lb/cell_job.h");
  add_common(*command, common);
  command->add_option("--cells", job.cells, "Which")
      ->delimiter(',')
      ->check(CLI::IsMember(cell_names()))
      ->required();
  command->add_option("--mode", job.mode, "Of the balancer")
      ->check(CLI::IsMember({"l2dsr", "nat"}));
  command->add_option("--connections", job.connections, "That a table takes")->required();
  command->add_option("--packets", job.packets, "A stretch, of each worker")->required();
  command->add_option("--cores", common.core_count, "How many workers");
  command->add_option("--warm-up", job.warm_up_packets, "Packets before the first round");
  command->add_option("--rounds", job.rounds, "Timed rounds");
  command->add_option("--tick", job.tick_seconds, "Seconds");
  command->add_option("--established", job.established_seconds, "Timeout, in seconds");
  command->add_option("--closed", job.closed_seconds, "Timeout, in seconds");
  command->add_option("--scan-share", job.scan_share,
                      "Of a table's places that table_scan looks at in a period, at once");
  command->add_option("--scan-period", job.scan_period_seconds, "Seconds");
  command->add_option("--profile", options.profile, "Of the traffic")
      ->check(CLI::IsMember({traffic::kCampusLike.name, traffic::kBackboneLike.name}));
  command->add_option("--windows", job.stream.windows, "At once");
  command->add_option("--flows", options.flows, "Of a window, instead of the profile's");
  command->add_option("--seconds", options.seconds, "In which they begin");
  command->add_option("--flow-seconds", options.flow_seconds, "How long they last, on average");
  command->add_option("--mean", options.mean, "Packets of a flow, on average");
  command->add_option("--law", options.law, "Of packets of a flow")
      ->transform(CLI::CheckedTransformer(kLengthLaws));
  command->add_option("--arrivals", job.stream.arrivals, "Law")
      ->transform(CLI::CheckedTransformer(kArrivalLaws));
  command->add_option("--seed", job.stream.seed, "Of the traffic and of hashes");
}

int run_cells(const Common& common, std::vector<int> cores, CellOptions& options) {
  CellJobConfig& job = options.job;
  traffic::Profile& profile = job.stream.profile;
  profile = *std::ranges::find(traffic::kProfiles, options.profile, &traffic::Profile::name);
  profile.flows = options.flows.value_or(profile.flows);
  profile.seconds = options.seconds.value_or(profile.seconds);
  profile.flow_seconds = options.flow_seconds.value_or(profile.flow_seconds);
  profile.length.mean = options.mean.value_or(profile.length.mean);
  profile.length.law = options.law.value_or(profile.length.law);
  job.experiment = common.experiment;
  job.pages = kBenchPages.at(common.pages);
  job.cores = std::move(cores);
  const auto eal = start_eal(job.cores.front(), job.pages, job.connections);
  if (!eal) return fail(eal.error().message);
  return write(run_cell_job(job, say_progress), common);
}

void add_common_tables(CLI::App& app, Common& common, CommonJobConfig& job) {
  auto* command = app.add_subcommand("common", "See lab/lb/common_job.h");
  add_common(*command, common);
  std::vector<std::string> names;
  for (const SharingKind& kind : sharing_kinds()) names.push_back(kind.name);
  command->add_option("--tables", job.tables, "Which")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->required();
  command->add_option("--entries", job.entries, "Of all threads")->required();
  command
      ->add_option("--lookups-per-change", job.lookups_per_change, "To an insertion and an erasure")
      ->check(CLI::PositiveNumber);
  command->add_option("--lookups", job.lookups, "Of a pass, of each thread")->required();
  command->add_option("--rounds", job.rounds, "Timed rounds");
  command->add_option("--cores", common.core_count, "How many threads");
  command->add_option("--seed", job.seed, "Of keys and hashes");
}

int run_common_tables(const Common& common, std::vector<int> cores, CommonJobConfig& job) {
  job.experiment = common.experiment;
  job.pages = kBenchPages.at(common.pages);
  job.cores = std::move(cores);
  const auto eal = start_eal(job.cores.front(), job.pages, job.entries);
  if (!eal) return fail(eal.error().message);
  return write(run_common_job(job, say_progress), common);
}

void add_timers(CLI::App& app, Common& common, TimerJobConfig& job) {
  auto* command = app.add_subcommand("timers", "See lab/lb/timer_job.h");
  add_common(*command, common);
  command->add_option("--timers", job.timers, "How many")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 30))
      ->required();
  command->add_option("--rounds", job.rounds, "Timed rounds");
}

int run_timers(const Common& common, int core, TimerJobConfig& job) {
  job.experiment = common.experiment;
  job.pages = kBenchPages.at(common.pages);
  job.core = core;
  const auto eal = start_eal(core, job.pages, 0);
  if (!eal) return fail(eal.error().message);
  return write(run_timer_job(job, say_progress), common);
}

struct ServeOptions {
  ServeConfig job;
  std::string device;
  int core = 0;
  uint64_t memory_mib = 256;
};

void add_serve(CLI::App& app, ServeOptions& options) {
  CellSetup& setup = options.job.setup;
  auto* command = app.add_subcommand("serve", "See lab/lb/serve_job.h");
  command->add_option("--cell", options.job.cell, "Which")
      ->check(CLI::IsMember(cell_names()))
      ->required();
  command->add_option("--connections", setup.connections, "That its table takes")->required();
  command->add_option("--established", setup.established_seconds, "Timeout, in seconds");
  command->add_option("--syn", setup.syn_seconds, "Timeout, in seconds");
  command->add_option("--closed", setup.closed_seconds, "Timeout, in seconds");
  command->add_option("--tick", setup.tick_seconds, "Seconds");
  command->add_option("--device", options.device, "DPDK's, as net_memif0,role=client,...")
      ->required();
  command->add_option("--core", options.core, "That it runs on");
  command->add_option("--memory", options.memory_mib, "DPDK's, in MiB");
}

int run_serve(ServeOptions& options) {
  options.job.setup.mode = "nat";
  options.job.setup.both_ends = true;
  options.job.eal_arguments = {"--no-pci",
                               "--no-telemetry",
                               "--in-memory",
                               fmt::format("--lcores=0@{}", options.core),
                               "-m",
                               std::to_string(options.memory_mib),
                               "--vdev=" + options.device};
  const auto error = run_serve_job(options.job);
  return error ? fail(error->message) : 0;
}

struct FlowOptions {
  uint64_t flows = 0;
  std::string out;
};

void add_flows(CLI::App& app, FlowOptions& options) {
  auto* command = app.add_subcommand("flows", "Write a capture with a request of each flow");
  command->add_option("--flows", options.flows, "How many")->required();
  command->add_option("--out", options.out, "The capture")->required();
}

int write_flows(const FlowOptions& options) {
  auto files = CaptureFiles::create(std::span(&options.out, 1));
  if (!files) return fail(files.error().message);
  for (uint64_t flow = 0; flow < options.flows; ++flow) files.value().write(0, request_of(flow));
  const auto error = files.value().finish();
  return error ? fail(error->message) : 0;
}

int run(int argc, char** argv) {
  CLI::App app("Measures the load balancer; ./dev lab runs it");
  app.require_subcommand(1);
  Common common;
  PacketJobConfig packets;
  SoakJobConfig soak;
  CellOptions cells;
  CommonJobConfig tables;
  TimerJobConfig timers;
  ServeOptions serve;
  FlowOptions flows;
  add_packets(app, common, packets);
  add_soak(app, common, soak);
  add_cells(app, common, cells);
  add_common_tables(app, common, tables);
  add_timers(app, common, timers);
  add_serve(app, serve);
  add_flows(app, flows);
  CLI11_PARSE(app, argc, argv);

  if (app.got_subcommand("flows")) return write_flows(flows);
  if (app.got_subcommand("serve")) return run_serve(serve);
  const auto cores = measuring_cores(common.core, common.core_count);
  if (!cores) return fail(cores.error().message);
  if (app.got_subcommand("packets")) return run_packets(common, cores.value(), packets);
  if (app.got_subcommand("common")) return run_common_tables(common, cores.value(), tables);
  if (app.got_subcommand("timers")) return run_timers(common, cores.value().front(), timers);
  if (app.got_subcommand("soak")) return run_soak(common, cores.value(), soak);
  return run_cells(common, cores.value(), cells);
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

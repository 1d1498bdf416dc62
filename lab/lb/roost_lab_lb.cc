// The measuring program of the experiment `lb`. lab/lab.py calls it once a job, as it does
// roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <string>

#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/lb/flows.h"
#include "lab/lb/packet_job.h"
#include "lab/lb/soak_job.h"
#include "lab/packets/capture_files.h"
#include "lab/packets/port_bench.h"

namespace roost::lab {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Measures the load balancer; ./dev lab lb runs it");
  app.require_subcommand(1);
  PacketJobConfig packets;
  SoakJobConfig soak;
  std::string experiment;
  std::string pages = "4K";
  std::string csv;
  int core = -1;
  size_t core_count = 1;
  const auto add_common = [&](CLI::App& command) {
    command.add_option("--experiment", experiment, "Its name in the record")->required();
    command.add_option("--pages", pages, "Kind of pages, for every contestant")
        ->check(CLI::IsMember(kBenchPages));
    command.add_option("--core", core, "The first measuring core; the last allowed one");
    command.add_option("--csv", csv, "File to write")->required();
  };
  auto* packet_command = app.add_subcommand("packets", "See lab/lb/packet_job.h");
  add_common(*packet_command);
  packet_command->add_option("--flows", packets.flows, "Flows of all workers")
      ->check(CLI::Range(uint64_t{1}, kFlowsMax))
      ->required();
  packet_command->add_option("--packets", packets.packets, "A pass, of each worker")->required();
  packet_command->add_option("--cores", core_count, "How many workers");
  packet_command->add_option("--rounds", packets.rounds, "Timed rounds");
  packet_command->add_flag("--peers,!--no-peers", packets.peers, "Whether rte_hash takes part");

  auto* soak_command = app.add_subcommand("soak", "See lab/lb/soak_job.h");
  add_common(*soak_command);
  soak_command->add_option("--connections", soak.connections, "That the table takes")->required();
  soak_command->add_option("--seconds", soak.seconds, "How long")->required();

  auto* flows_command = app.add_subcommand("flows", "Write a capture with a request of each flow");
  uint64_t flow_count = 0;
  std::string out;
  flows_command->add_option("--flows", flow_count, "How many")->required();
  flows_command->add_option("--out", out, "The capture")->required();
  CLI11_PARSE(app, argc, argv);

  if (flows_command->parsed()) {
    auto files = CaptureFiles::create(std::span(&out, 1));
    if (!files) return fail(files.error().message);
    for (uint64_t flow = 0; flow < flow_count; ++flow) files.value().write(0, request_of(flow));
    const auto error = files.value().finish();
    return error ? fail(error->message) : 0;
  }
  const auto cores = measuring_cores(core, core_count);
  if (!cores) return fail(cores.error().message);
  if (packet_command->parsed()) {
    packets.experiment = experiment;
    packets.pages = kBenchPages.at(pages);
    packets.cores = cores.value();
    const auto wrong = write_rows(run_packet_job(packets, say_progress), csv);
    return wrong ? fail(wrong->message) : 0;
  }
  soak.experiment = experiment;
  soak.core = cores.value().front();
  const auto wrong = write_rows(run_soak_job(soak, say_progress), csv);
  return wrong ? fail(wrong->message) : 0;
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

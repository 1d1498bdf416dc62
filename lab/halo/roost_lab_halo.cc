// What of HALO no user asks: what the simulator is held against on this machine, pointer chases on
// simulated machines (lab/2019-halo/host.py), and the flow register (flow_register.py).
//
// Exit status: 0 done; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/halo/inputs.h"
#include "lab/contestants/eal.h"
#include "lab/halo/chase.h"
#include "lab/halo/flow_register_job.h"
#include "lab/halo/host_job.h"
#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/packets/port_bench.h"

namespace roost::lab {
namespace {

struct Options {
  HostConfig host{};
  std::string pages = "4K";
  std::string csv;
  int core = -1;
  std::string machine;
  FlowRegisterConfig flows{};
};

Result<Rows> measure(const Options& options) {
  constexpr uint64_t kHeapBytes = uint64_t{1} << 30;  // if it is on ordinary pages
  const auto cores = measuring_cores(options.core, 1);
  if (!cores) return cores.error();
  HostConfig config = options.host;
  config.core = cores.value().front();
  config.pages = kBenchPages.at(options.pages);
  const auto eal =
      Eal::start({.core = config.core, .pages = config.pages, .memory_bytes = kHeapBytes});
  if (!eal) return eal.error();
  return run_host_job(config, say_progress);
}

Result<Rows> simulate(const Options& options) {
  const auto machine = halo::read_machine(options.machine);
  if (!machine) return machine.error();
  const sim::Parameters parameters = machine.value().at(sim::Level::kMiddle);
  Rows rows;
  for (const uint64_t bytes : options.host.chases) {
    const auto cycle = chase_cycle(bytes / sizeof(ChaseLine), options.host.seed);
    const auto cycles = simulate_chase(parameters, cycle, options.host.operations);
    if (!cycles) return cycles.error();
    RecordRow row;
    row.experiment = "host";
    row.kind = "simulated";
    row.contestant = "chase";
    row.form = "plain";
    row.metric = "cycles";
    row.value = cycles.value();
    row.operations = options.host.operations;
    row.table_bytes = bytes;
    row.seed = options.host.seed;
    rows.push_back(row);
  }
  return rows;
}

CLI::App* add_command(CLI::App& app, Options& options, const char* name, const char* text) {
  auto* command = app.add_subcommand(name, text);
  command->add_option("--csv", options.csv, "File to write")->required();
  command->add_option("--core", options.core, "The measuring core; the last allowed one");
  return command;
}

void add_chases(CLI::App* command, Options& options) {
  command->add_option("--chases", options.host.chases, "Bytes of each")
      ->check(CLI::Range(uint64_t{128}, uint64_t{1} << 36));
  command->add_option("--operations", options.host.operations, "Of each turn; a multiple of 512")
      ->check(CLI::PositiveNumber)
      ->required();
}

int run(int argc, char** argv) {
  CLI::App app("Of HALO's simulator; `./dev lab 2019-halo` runs it.");
  app.require_subcommand(1);
  Options options;
  auto* measured = add_command(app, options, "measure", "See lab/halo/host_job.h");
  add_chases(measured, options);
  measured->add_option("--slots", options.host.slots, "Of the tables");
  measured->add_option("--warm-up", options.host.warm_up_max, "Lookups at most, before a turn");
  measured->add_option("--rounds", options.host.rounds, "Timed rounds");
  measured->add_option("--pages", options.pages, "Kind of pages")
      ->check(CLI::IsMember(kBenchPages));
  auto* simulated = add_command(app, options, "simulate", "Chases on a simulated machine");
  add_chases(simulated, options);
  simulated->add_option("--machine", options.machine, "Its numbers, in TOML")->required();
  auto* flows = add_command(app, options, "flows", "See lab/halo/flow_register_job.h");
  flows->add_option("--bits", options.flows.bits, "Of registers; powers of two from 32 up");
  flows->add_option("--shares", options.flows.shares, "Flows, in shares of those");
  flows->add_option("--trials", options.flows.trials, "Windows of each");
  CLI11_PARSE(app, argc, argv);
  const auto wrong = write_rows(measured->parsed()    ? measure(options)
                                : simulated->parsed() ? simulate(options)
                                                      : run_flow_register_job(options.flows),
                                options.csv);
  return wrong ? fail(wrong->message) : 0;
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

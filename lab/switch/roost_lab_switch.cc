// The measuring program of the switch's part of the experiment `2013-cuckooswitch`. lab/lab.py
// calls it once a job, as it does roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/packets/port_bench.h"
#include "lab/switch/stall_job.h"
#include "lab/switch/switch_job.h"

namespace roost::lab {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Measures the switch; ./dev lab 2013-cuckooswitch runs it");
  app.require_subcommand(1);
  SwitchJobConfig job;
  StallJobConfig stalls;
  std::string pages = "4K";
  std::string csv;
  int core = -1;
  size_t core_count = 1;
  bool has_writer = false;
  const auto add_common = [&](CLI::App& command, auto& config) {
    command.add_option("--experiment", config.experiment, "Its name in the record")->required();
    command.add_option("--stations", config.stations, "That are known")->required();
    command.add_option("--frames", config.frames, "That the ports have in memory")->required();
    command.add_option("--packets", config.packets, "A pass, of each worker")->required();
    command.add_option("--rounds", config.rounds, "Timed rounds");
    command.add_option("--pages", pages, "Kind of pages, for every contestant")
        ->check(CLI::IsMember(kBenchPages));
    command.add_option("--core", core, "The first measuring core; the last allowed one");
    command.add_option("--csv", csv, "File to write")->required();
  };
  auto* packet_command = app.add_subcommand("packets", "See lab/switch/switch_job.h");
  add_common(*packet_command, job);
  packet_command->add_option("--contestants", job.contestants, "Which switches")
      ->check(CLI::IsMember(switch_contestants()))
      ->required();
  packet_command->add_option("--frame-bytes", job.frame_bytes, "Of each")
      ->check(CLI::Range(60, 1'514));
  packet_command->add_option("--zipf", job.zipf,
                             "Exponent of the stations' popularity; 0: all alike");
  packet_command->add_option("--cores", core_count, "How many workers");
  packet_command->add_flag("--writer", has_writer, "A core beside the worker's changes stations");
  packet_command->add_option("--updates", job.updates_per_second,
                             "Changes a second, each rate in turn");
  auto* stall_command = app.add_subcommand("stalls", "See lab/switch/stall_job.h");
  add_common(*stall_command, stalls);
  stall_command->add_option("--imported", stalls.imported, "Stations of an import")->required();
  CLI11_PARSE(app, argc, argv);
  if (has_writer && core_count != 1) return fail("a writer stands beside one worker");

  const bool has_other_core = has_writer || stall_command->parsed();
  auto cores = measuring_cores(core, core_count + (has_other_core ? 1 : 0));
  if (!cores) return fail(cores.error().message);
  if (stall_command->parsed()) {
    stalls.core = cores.value().front();
    stalls.control_core = cores.value().back();
    stalls.pages = kBenchPages.at(pages);
    const auto wrong = write_rows(run_stall_job(stalls, say_progress), csv);
    return wrong ? fail(wrong->message) : 0;
  }
  job.cores = std::move(cores).value();
  if (has_writer) {
    job.writer_core = job.cores.back();
    job.cores.pop_back();
  }
  job.pages = kBenchPages.at(pages);
  const auto wrong = write_rows(run_switch_job(job, say_progress), csv);
  return wrong ? fail(wrong->message) : 0;
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

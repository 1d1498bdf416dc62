// The measuring program of the switch's part of the experiment `2013-cuckooswitch`. lab/lab.py
// calls it once a job, as it does roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <string>

#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/packets/port_bench.h"
#include "lab/switch/switch_job.h"

namespace roost::lab {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Measures the switch; ./dev lab 2013-cuckooswitch runs it");
  SwitchJobConfig job;
  std::string pages = "4K";
  std::string csv;
  int core = -1;
  size_t core_count = 1;
  bool has_writer = false;
  app.add_option("--experiment", job.experiment, "Its name in the record")->required();
  app.add_option("--contestants", job.contestants, "Which switches")
      ->check(CLI::IsMember(switch_contestants()))
      ->required();
  app.add_option("--stations", job.stations, "That are known")->required();
  app.add_option("--frames", job.frames, "That the ports have in memory")->required();
  app.add_option("--frame-bytes", job.frame_bytes, "Of each")->check(CLI::Range(60, 1'514));
  app.add_option("--zipf", job.zipf, "Exponent of the stations' popularity; 0: all alike");
  app.add_option("--packets", job.packets, "A pass, of each worker")->required();
  app.add_option("--rounds", job.rounds, "Timed rounds");
  app.add_option("--cores", core_count, "How many workers");
  app.add_flag("--writer", has_writer, "A core beside the worker's changes stations");
  app.add_option("--updates", job.updates_per_second, "Changes a second, each rate in turn");
  app.add_option("--pages", pages, "Kind of pages, for every contestant")
      ->check(CLI::IsMember(kBenchPages));
  app.add_option("--core", core, "The first measuring core; the last allowed one");
  app.add_option("--csv", csv, "File to write")->required();
  CLI11_PARSE(app, argc, argv);
  if (has_writer && core_count != 1) return fail("a writer stands beside one worker");

  const auto cores = measuring_cores(core, core_count + (has_writer ? 1 : 0));
  if (!cores) return fail(cores.error().message);
  job.cores = cores.value();
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

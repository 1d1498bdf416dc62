// The measuring program of the experiment `balance`. lab/lab.py calls it once a job, as it does
// roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <string>

#include "lab/balance/balance_job.h"
#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"

namespace roost::lab {
namespace {

struct Common {
  std::string csv;
  int core = -1;
};

template <class Job>
CLI::App* add(CLI::App& app, const char* name, Common& common, Job& job) {
  CLI::App* command = app.add_subcommand(name, "See lab/balance/balance_job.h");
  command->add_option("--experiment", job.experiment, "Its name in the record")->required();
  command->add_option("--contestants", job.contestants, "Which")->delimiter(',')->required();
  command->add_option("--backends", job.backends, "How many")
      ->check(CLI::Range(uint64_t{3}, uint64_t{10'000}))
      ->required();
  command->add_option("--seed", job.seed, "Of names, flows and traffic");
  command->add_option("--core", common.core, "The measuring core; the last allowed one");
  command->add_option("--csv", common.csv, "File to write")->required();
  return command;
}

int run(int argc, char** argv) {
  CLI::App app("Measures balancing; ./dev lab runs it");
  app.require_subcommand(1);
  Common common;
  EventJobConfig events;
  PickJobConfig picks;
  CLI::App* command = add(app, "events", common, events);
  command->add_option("--scenario", events.scenario, "Which")->required();
  command->add_option("--connections", events.connections, "Of the whole stream")->required();
  command->add_option("--probes", events.probes, "Hashes by which moves are counted");
  command = add(app, "picks", common, picks);
  command->add_option("--picks", picks.picks, "Of a pass")->required();
  command->add_option("--rounds", picks.rounds, "Timed rounds");
  CLI11_PARSE(app, argc, argv);

  if (app.got_subcommand("events")) {
    const auto wrong = write_rows(run_event_job(events, say_progress), common.csv);
    return wrong ? fail(wrong->message) : 0;
  }
  const auto cores = measuring_cores(common.core, 1);
  if (!cores) return fail(cores.error().message);
  picks.core = cores.value().front();
  const auto wrong = write_rows(run_pick_job(picks, say_progress), common.csv);
  return wrong ? fail(wrong->message) : 0;
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

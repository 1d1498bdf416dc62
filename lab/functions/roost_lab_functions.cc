// Measures network functions beside each other and on other tables; the experiment `functions`.
// lab.py calls it, a process a job, as it does roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lab/contestants/eal.h"
#include "lab/functions/function_job.h"
#include "lab/functions/lookup_ways_job.h"
#include "lab/functions/rule_job.h"
#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/lb/flows.h"
#include "lab/packets/port_bench.h"

namespace roost::lab {
namespace {

struct Options {
  std::string experiment;
  std::string pages = "4K";
  std::string csv;
  int core = -1;
  unsigned rounds = 1;
  FunctionJobConfig function{};
  RuleJobConfig rules{};
  LookupWaysConfig ways{};
};

CLI::App* add_command(CLI::App& app, Options& options, const char* name, const char* text) {
  auto* command = app.add_subcommand(name, text);
  command->add_option("--experiment", options.experiment, "Its name in the record")
      ->check(CLI::IsMember({"firewall", "nat", "rules", "cache", "fig13"}))
      ->required();
  command->add_option("--pages", options.pages, "Kind of pages, for every contestant")
      ->check(CLI::IsMember(kBenchPages));
  command->add_option("--core", options.core, "The measuring core; the last allowed one");
  command->add_option("--csv", options.csv, "File to write")->required();
  command->add_option("--rounds", options.rounds, "Timed rounds");
  return command;
}

Result<Rows> run_functions(const Options& options, int core) {
  FunctionJobConfig config = options.function;
  config.experiment = options.experiment;
  config.pages = kBenchPages.at(options.pages);
  config.rounds = options.rounds;
  config.core = core;
  return run_function_job(config, say_progress);
}

Result<Rows> run_rules(const Options& options, int core) {
  constexpr uint64_t kMemoryBytes = uint64_t{2} << 30;  // of rte_acl, while it builds
  RuleJobConfig config = options.rules;
  config.experiment = options.experiment;
  config.rounds = options.rounds;
  config.core = core;
  const auto eal = Eal::start({.core = core,
                               .pages = kBenchPages.at(options.pages),
                               .memory_bytes = kMemoryBytes,
                               .register_bits = 512});
  if (!eal) return eal.error();
  return run_rule_job(config, say_progress);
}

Result<Rows> run_ways(const Options& options, int core) {
  constexpr uint64_t kMemoryBytes = uint64_t{256} << 20;
  LookupWaysConfig config = options.ways;
  config.experiment = options.experiment;
  config.rounds = options.rounds;
  config.core = core;
  const auto eal = Eal::start(
      {.core = core, .pages = kBenchPages.at(options.pages), .memory_bytes = kMemoryBytes});
  if (!eal) return eal.error();
  return run_lookup_ways_job(config, say_progress);
}

int run(int argc, char** argv) {
  CLI::App app("Measures network functions; `./dev lab functions` runs it.");
  app.require_subcommand(1);
  Options options;
  auto* functions = add_command(app, options, "functions", "See lab/functions/function_job.h");
  functions->add_option("--flows", options.function.flows, "Of all packets")
      ->check(CLI::Range(uint64_t{1}, kFlowsMax / 2))
      ->required();
  functions->add_option("--packets", options.function.packets, "A pass")->required();
  functions->add_option("--rules", options.function.rules, "That the firewall denies by");
  auto* rules = add_command(app, options, "rules", "See lab/functions/rule_job.h");
  rules->add_option("--rules", options.rules.rules, "How many")
      ->check(CLI::Range(1, 65'535))
      ->required();
  rules->add_option("--packets", options.rules.packets, "Different ones")
      ->check(CLI::PositiveNumber)
      ->required();
  rules->add_option("--passes", options.rules.passes, "Over them, in a round");
  rules->add_flag("--cache", options.rules.compares_cache,
                  "The exact-match cache on, off and by the flow register, instead of rte_acl");
  auto* ways = add_command(app, options, "ways", "See lab/functions/lookup_ways_job.h");
  ways->add_option("--function", options.ways.function, "Whose packets")
      ->check(CLI::IsMember({"nat", "assets", "filter"}))
      ->required();
  ways->add_option("--entries", options.ways.entries, "Of its table")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20))
      ->required();
  ways->add_option("--packets", options.ways.packets, "Different ones")
      ->check(CLI::PositiveNumber)
      ->required();
  ways->add_option("--passes", options.ways.passes, "Over them, in a round");
  CLI11_PARSE(app, argc, argv);
  const auto cores = measuring_cores(options.core, 1);
  if (!cores) return fail(cores.error().message);
  const int core = cores.value().front();
  const Result<Rows> rows = functions->parsed() ? run_functions(options, core)
                            : rules->parsed()   ? run_rules(options, core)
                                                : run_ways(options, core);
  const auto wrong = write_rows(rows, options.csv);
  return wrong ? fail(wrong->message) : 0;
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

// The measuring program of the lab. lab/lab.py calls it once a job: that script gets the pages,
// keeps the record and judges; this program measures and writes lines of CSV.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/version.hpp>
#include <cstdio>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "lab/contestants/eal.h"
#include "lab/contestants/line_up.h"
#include "lab/contestants/rte_hash.h"
#include "lab/harness/pinned_core.h"
#include "lab/harness/rounds.h"
#include "lab/jobs/job.h"
#include "lab/jobs/program.h"
#include "roost/isa/isa.h"

namespace roost::lab {
namespace {

const std::map<std::string, PageKind> kPageKinds = {{"1G", PageKind::kHuge1GiB},
                                                    {"2M", PageKind::kHuge2MiB},
                                                    {"THP", PageKind::kTransparentHuge},
                                                    {"4K", PageKind::kSmall}};

// What only the program knows of how it was built and runs; lab.py puts it into the record.
void print_facts() {
  fmt::print("compiler: {} {}\n", ROOST_LAB_COMPILER, __VERSION__);
  fmt::print("flags: {}\n", ROOST_LAB_FLAGS);
  fmt::print("isa kernel of our tables: {}\n", isa_name(isa_best()));
  fmt::print("rte_hash: {}\n", Eal::version());
  fmt::print("boost: {}.{}\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000);
  fmt::print("clock: std::chrono::steady_clock, {:.0f} ns a reading\n", clock_cost_seconds() * 1e9);
}

// "32", or "32+next".
std::optional<Call> parse_call(const std::string& text) {
  size_t past = 0;
  const unsigned long lanes = text.empty() ? 0 : std::stoul(text, &past);
  const std::string rest = text.substr(past);
  if (lanes == 0 || lanes > kLanesMax || (!rest.empty() && rest != "+next")) return std::nullopt;
  return Call{.lanes = lanes, .names_next = !rest.empty()};
}

struct Arguments {
  JobConfig job;
  std::vector<std::string> calls = {"32"};
  std::string pages = "4K";
  size_t core_count = 1;
  int core = -1;
  std::string csv;
};

// Shows that each core is available, and stays on the first.
std::optional<Error> pin_to_each(const std::vector<int>& cores) {
  for (const int core : cores | std::views::reverse) {
    const Result<int> pinned = pin_to_core(core);
    if (!pinned) return pinned.error();
  }
  return {};
}

using RunJob = Result<Rows> (*)(const JobConfig&, const Progress&);

int run_job(Arguments& arguments, RunJob run) {
  JobConfig& job = arguments.job;
  job.pages = kPageKinds.at(arguments.pages);
  for (const std::string& text : arguments.calls) {
    const auto call = parse_call(text);
    if (!call) return fail("no way to call a table: " + text);
    job.calls.push_back(*call);
  }
  const auto cores = measuring_cores(arguments.core, arguments.core_count);
  if (!cores) return fail(cores.error().message);
  if (const auto error = pin_to_each(cores.value())) return fail(error->message);
  job.cores = cores.value();

  std::optional<Eal> eal;
  const auto dpdk_tables =
      static_cast<size_t>(std::ranges::count_if(job.contestants, [](const std::string& name) {
        return name.find("rte_hash") != std::string::npos;
      }));
  if (dpdk_tables != 0) {
    const uint64_t table_count = dpdk_tables * job.cores.size();
    auto started = Eal::start({.core = job.cores.front(),
                               .pages = job.pages,
                               .memory_bytes = RteHash::heap_bytes(job.slots) * table_count});
    if (!started) return fail(started.error().message);
    eal.emplace(std::move(started).value());
    // DPDK pins the thread that starts it, and it may have taken the others' cores away.
    const Result<int> pinned = pin_to_core(job.cores.front());
    if (!pinned) return fail(pinned.error().message);
  }

  const auto wrong = write_rows(run(job, say_progress), arguments.csv);
  return wrong ? fail(wrong->message) : 0;
}

void add_options(CLI::App& command, Arguments& arguments) {
  JobConfig& job = arguments.job;
  command.add_option("--experiment", job.experiment, "Its name in the record")->required();
  command.add_option("--contestants", job.contestants, "The contestants of this job")->required();
  command.add_option("--slots", job.slots, "Capacity")->required();
  command.add_option("--loads", job.loads, "Entries as shares of the slots, rising")->required();
  command.add_option("--misses", job.miss_ratios, "Shares of queries whose key is absent");
  command.add_option("--calls", arguments.calls, "Keys a call: 32, or 32+next to name the next");
  command.add_option("--ceilings", job.ceilings, "Variants of the ceiling that run along");
  command.add_option("--zipf", job.zipf_exponent, "Exponent of the hits; 0 draws evenly");
  command.add_option("--churn", job.lookups_per_insert, "Lookups an insertion; 0 for none");
  command.add_option("--updates", job.updates_per_second, "Of a writer, a second");
  command.add_option("--key-bits", job.key_bits, "48, 104 or 128")
      ->check(CLI::IsMember({48, 104, 128}));
  command.add_option("--ages", job.ages, "Replacements of each entry before lookups are counted");
  command.add_option("--lookups", job.lookups, "Lookups a timed pass");
  command.add_flag("--counts,!--no-counts", job.counts, "Whether twins count what lookups meet");
  command.add_flag("--own-oracles", job.own_oracles, "Oracles in the tables' own memory run along");
  command.add_flag("--shared", job.shared, "The cores have one table together");
  command.add_flag("--forced-hints", job.forced_hints,
                   "The tables run along with each prefetch hint forced on them");
  command.add_option("--pages", arguments.pages, "Kind of pages, for every contestant")
      ->check(CLI::IsMember(kPageKinds));
  command.add_option("--core", arguments.core, "The first measuring core; the last allowed one");
  command.add_option("--cores", arguments.core_count, "How many cores");
  command.add_option("--rounds", job.rounds, "Timed rounds")->check(CLI::Range(1U, 1000U));
  command.add_option("--warm-up", job.warm_up_rounds, "Rounds before them that are thrown away");
  command.add_option("--seed", job.seed, "Of keys and queries");
  command.add_option("--csv", arguments.csv, "File to write")->required();
}

int run(int argc, char** argv) {
  CLI::App app("Measures tables; ./dev lab runs it");
  app.require_subcommand(1);
  auto* facts = app.add_subcommand("facts", "Print how this program was built");
  auto* names = app.add_subcommand("contestants", "Print their names");
  Arguments arguments;
  const std::map<std::string, RunJob> jobs = {
      {"lookups", run_lookup_job},           {"fills", run_fill_job},
      {"replacements", run_replacement_job}, {"structure", run_structure_job},
      {"updates", run_update_job},           {"bulk", run_bulk_job}};
  for (const auto& [name, job] : jobs)
    add_options(*app.add_subcommand(name, "See lab/jobs/job.h"), arguments);
  CLI11_PARSE(app, argc, argv);
  if (facts->parsed()) {
    print_facts();
    return 0;
  }
  if (names->parsed()) {
    for (const std::string_view name : contestant_names()) fmt::print("{}\n", name);
    return 0;
  }
  return run_job(arguments, jobs.at(app.get_subcommands().front()->get_name()));
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

// The measuring program of the lab. lab/lab.py calls it: that script gets the pages, keeps the
// record and judges; this program measures and writes one line of CSV a timed pass.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/version.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "lab/contestants/eal.h"
#include "lab/contestants/rte_hash.h"
#include "lab/harness/pinned_core.h"
#include "lab/harness/rounds.h"
#include "lab/table/table_experiment.h"
#include "roost/isa/isa.h"

namespace roost::lab {
namespace {

int fail(const std::string& what) {
  fmt::print(stderr, "roost_lab: {}\n", what);
  return 1;
}

struct TableArguments {
  std::vector<uint64_t> slots = {uint64_t{1} << 19, uint64_t{1} << 25};
  size_t lookups = size_t{1} << 22;
  double load = 0.8;
  std::string pages = "2M";
  int core = -1;
  unsigned rounds = 7;
  unsigned warm_up_rounds = 1;
  uint64_t seed = 1;
  std::string csv;
};

// What only the program knows of how it was built and runs; lab.py puts it into the record.
void print_facts() {
  fmt::print("compiler: {} {}\n", ROOST_LAB_COMPILER, __VERSION__);
  fmt::print("flags: {}\n", ROOST_LAB_FLAGS);
  fmt::print("isa kernel of roost_flow_table: {}\n", isa_name(isa_best()));
  fmt::print("rte_hash: {}\n", Eal::version());
  fmt::print("boost: {}.{}\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000);
  fmt::print("clock: std::chrono::steady_clock, {:.0f} ns a reading\n", clock_cost_seconds() * 1e9);
}

int measure_tables(const TableArguments& arguments) {
  const PageKind pages = arguments.pages == "2M" ? PageKind::kHuge2MiB : PageKind::kSmall;
  const Result<int> wanted =
      arguments.core >= 0 ? Result<int>(arguments.core) : last_allowed_core();
  if (!wanted) return fail(wanted.error().message);
  const uint64_t slots_max = *std::max_element(arguments.slots.begin(), arguments.slots.end());
  const auto eal = Eal::start(
      {.core = wanted.value(), .pages = pages, .memory_bytes = RteHash::heap_bytes(slots_max)});
  if (!eal) return fail(eal.error().message);
  const Result<int> core = pin_to_core(wanted.value());
  if (!core) return fail(core.error().message);

  std::ofstream csv(arguments.csv);
  csv << table_csv_header();
  for (const uint64_t slots : arguments.slots) {
    const auto say = [slots](const std::string& what) {
      fmt::print(stderr, "{} slots: {}\n", slots, what);
    };
    const auto lines = run_table({.slots = slots,
                                  .load = arguments.load,
                                  .pages = pages,
                                  .core = core.value(),
                                  .rounds = arguments.rounds,
                                  .warm_up_rounds = arguments.warm_up_rounds,
                                  .lookups = arguments.lookups,
                                  .seed = arguments.seed},
                                 say);
    if (!lines) return fail(lines.error().message);
    csv << lines.value();
  }
  csv.close();
  return csv ? 0 : fail("the results cannot be written to " + arguments.csv);
}

int run(int argc, char** argv) {
  CLI::App app("Measures tables; ./dev lab runs it");
  app.require_subcommand(1);
  auto* facts = app.add_subcommand("facts", "Print how this program was built");
  auto* table = app.add_subcommand("table", "Our flow table beside its peers and the ceiling");
  TableArguments arguments;
  table->add_option("--slots", arguments.slots, "Capacities, one measurement each");
  table->add_option("--lookups", arguments.lookups, "Lookups a timed pass");
  table->add_option("--load", arguments.load, "Entries as a share of the slots")
      ->check(CLI::Range(0.01, 0.95));
  table->add_option("--pages", arguments.pages, "Kind of pages, for every contestant")
      ->check(CLI::IsMember({"2M", "4K"}));
  table->add_option("--core", arguments.core, "Core to measure on; the last allowed one if absent");
  table->add_option("--rounds", arguments.rounds, "Timed rounds")->check(CLI::Range(1U, 1000U));
  table->add_option("--warm-up", arguments.warm_up_rounds,
                    "Rounds before them that are thrown away");
  table->add_option("--seed", arguments.seed, "Of keys and queries");
  table->add_option("--csv", arguments.csv, "File to write")->required();
  CLI11_PARSE(app, argc, argv);
  if (facts->parsed()) {
    print_facts();
    return 0;
  }
  return measure_tables(arguments);
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  try {
    return roost::lab::run(argc, argv);
  } catch (const std::exception& error) {  // memory, or a stream of the standard library
    std::fputs(error.what(), stderr);
    return 1;
  }
}

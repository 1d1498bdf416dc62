// The measuring program of the experiment `2024-parrot`. lab/lab.py calls it once a job, as it does
// roost_lab.
//
// Exit status: 0 measured; 1 something was wrong with an answer or could not be set up, said on
// standard error.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lab/contestants/eal.h"
#include "lab/contestants/rte_efd.h"
#include "lab/contestants/rte_hash.h"
#include "lab/harness/pinned_core.h"
#include "lab/jobs/program.h"
#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

const std::map<std::string, PageKind> kPages = {{"2M", PageKind::kHuge2MiB},
                                                {"4K", PageKind::kSmall}};
using RunValueJob = Result<Rows> (*)(const ValueJobConfig&, const Progress&);
const std::map<std::string, RunValueJob> kJobs = {{"lookups", run_value_lookup_job},
                                                  {"builds", run_value_build_job},
                                                  {"changes", run_value_change_job},
                                                  {"scans", run_value_scan_job},
                                                  {"parts", run_value_part_job},
                                                  {"shapes", run_value_shape_job},
                                                  {"crc", run_crc_job},
                                                  {"beside", run_value_beside_job},
                                                  {"switch", run_value_switch_job},
                                                  {"forwards", run_value_forward_job}};

constexpr uint64_t kSwitchBytes = uint64_t{512} << 20;  // of 100,000 keys or so

struct ValueArguments {
  ValueJobConfig job;
  std::string pages = "4K";
  std::string csv;
};

void add_options(CLI::App& command, ValueArguments& arguments) {
  ValueJobConfig& job = arguments.job;
  command.add_option("--experiment", job.experiment, "Its name in the record")->required();
  command.add_option("--contestants", job.contestants, "Which")->required();
  command.add_option("--keys", job.keys.name, "A key set by name, or a file in SOSD's form")
      ->required();
  command.add_option("--count", job.keys.count, "How many keys")
      ->check(CLI::Range(uint64_t{16}, uint64_t{1} << 31))
      ->required();
  command.add_option("--vendors", job.keys.vendors, "IEEE's list of prefixes, oui.txt");
  command.add_option("--value-bits", job.value_bits, "Of values")->check(CLI::Range(4U, 32U));
  command.add_option("--loads", job.loads, "Keys over slots")->check(CLI::Range(0.1, 0.97));
  command.add_option("--calls", job.calls, "Keys a call")->check(CLI::Range(size_t{1}, kLanesMax));
  command.add_option("--oracles-of", job.oracles_of, "Over whose bytes oracles run along");
  command.add_option("--zipf", job.zipf_exponents, "Exponents of lookups; 0 draws evenly");
  command.add_option("--lookups", job.lookups,
                     "Lookups or packets of a pass; changes; values of ranges");
  command.add_option("--frames", job.frames, "That ports have, to play again and again");
  command.add_option("--rates", job.rates, "Changes a second, beside lookups");
  command.add_option("--lengths", job.lengths, "Keys of a range");
  command.add_flag("--strangers", job.asks_strangers, "Ask for keys that no table has, apart");
  command.add_option("--pages", arguments.pages, "Kind of pages, for every contestant")
      ->check(CLI::IsMember(kPages));
  command.add_option("--core", job.core, "The measuring core; the last allowed one");
  command.add_option("--rounds", job.rounds, "Timed rounds")->check(CLI::Range(1U, 1000U));
  command.add_option("--warm-up", job.warm_up_rounds, "Rounds before them that are thrown away");
  command.add_option("--seed", job.keys.seed, "Of keys and queries");
  command.add_option("--csv", arguments.csv, "File to write")->required();
}

// What DPDK's tables, or its switch, take of its heap at most.
uint64_t dpdk_bytes(const std::string& command, const ValueJobConfig& job) {
  if (command == "switch") return kSwitchBytes;
  if (command == "forwards") return 0;  // the job starts DPDK with its ports
  uint64_t bytes = 0;
  for (const std::string& name : job.contestants) {
    const double slots = static_cast<double>(job.keys.count) / job.loads.front();
    if (name == "rte_hash") bytes += RteHash::heap_bytes(static_cast<uint64_t>(slots));
    if (name == "rte_efd") bytes += RteEfd<traffic::Key104>::heap_bytes(job.keys.count);
  }
  return bytes;
}

int run(int argc, char** argv) {
  CLI::App app("Measures value-only tables; ./dev lab runs it");
  app.require_subcommand(1);
  ValueArguments arguments;
  for (const auto& [name, job] : kJobs)
    add_options(*app.add_subcommand(name, "See lab/value_tables/value_job.h"), arguments);
  CLI11_PARSE(app, argc, argv);
  ValueJobConfig& job = arguments.job;
  job.pages = kPages.at(arguments.pages);
  const std::string name = app.get_subcommands().front()->get_name();
  const auto cores = measuring_cores(job.core, name == "beside" ? 2 : 1);
  if (!cores) return fail(cores.error().message);
  job.core = cores.value().front();
  job.builder_core = cores.value().back();

  std::optional<Eal> eal;
  if (const uint64_t bytes = dpdk_bytes(name, job); bytes != 0) {
    // With wider registers rte_efd answers nothing.
    auto started = Eal::start(
        {.core = job.core, .pages = job.pages, .memory_bytes = bytes, .register_bits = 128});
    if (!started) return fail(started.error().message);
    eal.emplace(std::move(started).value());
  }
  const Result<int> pinned = pin_to_core(job.core);
  if (!pinned) return fail(pinned.error().message);
  const auto wrong = write_rows(kJobs.at(name)(job, say_progress), arguments.csv);
  return wrong ? fail(wrong->message) : 0;
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) { return roost::lab::run_program(roost::lab::run, argc, argv); }

// `roost-halo`: would a lookup unit beside the last-level cache help this table and this traffic?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/halo/break_even.h"
#include "apps/halo/inputs.h"
#include "apps/halo/report.h"
#include "apps/halo/tuples.h"
#include "apps/halo/ways.h"

namespace roost::halo {
namespace {

constexpr const char* kAbout =
    "A near-cache lookup unit (HALO, ISCA 2019), simulated: lookups a second of your table and "
    "your keys, as intervals over what nobody knows of the machine.";

constexpr const char* kFooter =
    "\n"
    "  roost-halo run --table flows.table --trace flows.pcap\n"
    "  roost-halo run --build 100000 --load 0.9 --json\n"
    "  roost-halo run --build 1024 --tuples 5,10,15,20\n"
    "  roost-halo run --build 100000 --neighbour program.trace\n"
    "  roost-halo machine --print > machine.toml\n"
    "  roost-halo machine --check machine.toml\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  the simulation stopped: who waits for whom is printed\n"
    "  2  the command line is wrong\n"
    "  3  the machine file was refused; each fault is printed with its line\n"
    "  4  the table, a trace or the memory does not do";

constexpr int kExitOk = 0;
constexpr int kExitStopped = 1;
constexpr int kExitUsage = 2;
constexpr int kExitBadMachine = 3;
constexpr int kExitRefused = 4;

int complain(int status, std::string_view text) {
  fmt::print(stderr, "roost-halo: {}\n", text);
  return status;
}

std::string name_of_machine(const std::string& path) {
  return path.empty() ? "the default machine" : path;
}

class RunCommand {
 public:
  explicit RunCommand(CLI::App& app)
      : app_(app.add_subcommand("run", "lookups a second of a table and a trace")) {
    app_->add_option("--machine", machine_path_, "the machine, in TOML; else the default one");
    auto* table = app_->add_option("--table", inputs_.table_path, "what save_table() wrote");
    trace_ = app_->add_option("--trace", inputs_.trace_path,
                              "the keys that are asked for: text, bytes or a capture");
    app_->add_option("--trace-format", trace_format_,
                     "text: a key a line in hexadecimal; binary; capture; else captures are known "
                     "by how they begin, and the rest is text")
        ->needs(trace_)
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, TraceFormat>{{"text", TraceFormat::kText},
                                               {"binary", TraceFormat::kBinary},
                                               {"capture", TraceFormat::kCapture}}));
    build_ = app_->add_option("--build", inputs_.build.entries,
                              "instead of --table: a table of so many entries")
                 ->excludes(table)
                 ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 31));
    app_->add_option("--load", inputs_.build.load, "of that table: entries over slots")
        ->needs(build_)
        ->capture_default_str()
        ->check(CLI::Range(0.01, 1.0));
    app_->add_option("--format", inputs_.build.format,
                     "of that table: paper, HALO's; single, the paper's of one bucket a key; "
                     "split, inline: ours")
        ->needs(build_)
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, BuiltFormat>{{"paper", BuiltFormat::kPaper},
                                               {"single", BuiltFormat::kSingle},
                                               {"split", BuiltFormat::kSplit},
                                               {"inline", BuiltFormat::kInline}}));
    key_bytes_ = app_->add_option("--key-bytes", inputs_.build.key_bytes,
                                  "of that table's keys: 8, 16, 26 or 40; not of --format inline")
                     ->needs(build_)
                     ->capture_default_str()
                     ->check(CLI::IsMember(kBuiltKeyBytes));
    app_->add_option("--misses", inputs_.misses,
                     "the share of the keys that it has not, without a trace")
        ->needs(build_)
        ->excludes(trace_)
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1.0));
    std::vector<std::string> names;
    for (const WayInfo& info : kWays) names.emplace_back(info.name);
    app_->add_option("--ways", options_.ways, "only these, by their names, with commas between")
        ->delimiter(',')
        ->check(CLI::IsMember(names));
    app_->add_flag("--cold", options_.is_cold,
                   "begin with the table in DRAM; else it is in the caches, as far as it fits");
    add_tuples();
    app_->add_option("--neighbour", neighbour_path_,
                     "what a program loses that shares a core with the lookups: its accesses to "
                     "memory, as valgrind's lackey prints them");
    add_amounts();
    app_->add_flag("--json", json_, "the report as JSON");
  }

  [[nodiscard]] bool is_parsed() const { return app_->parsed(); }

  // Throws CLI::RequiredError.
  void require_arguments() const {
    if (inputs_.table_path.empty() && build_->count() == 0)
      throw CLI::RequiredError("--table FILE, or --build ENTRIES,");
    if (!inputs_.table_path.empty() && trace_->count() == 0)
      throw CLI::RequiredError("--trace FILE");
    if (options_.lookups < options_.cores)
      throw CLI::ValidationError("--lookups", "fewer than --cores; give each core one");
    if (std::ranges::adjacent_find(tuples_.counts, std::ranges::greater_equal()) !=
        tuples_.counts.end())
      throw CLI::ValidationError("--tuples", "each number is to be larger than the one before");
    if (!tuples_.counts.empty() && inputs_.build.format != BuiltFormat::kPaper)
      throw CLI::ValidationError("--tuples", "goes with --format paper only");
    const bool is_inline = inputs_.build.format == BuiltFormat::kInline;
    if (key_bytes_->count() != 0 && (is_inline || !tuples_.counts.empty()))
      throw CLI::ValidationError("--key-bytes", "goes without --format inline and --tuples");
    if (!neighbour_path_.empty() && options_.cores != 1)
      throw CLI::ValidationError("--neighbour", "shares one core; leave --cores out");
    const bool is_single = inputs_.build.format == BuiltFormat::kSingle;
    for (const WayInfo& info : kWays) {
      if (std::ranges::count(options_.ways, info.name) != 0 && !info.goes_with(is_single))
        throw CLI::ValidationError("--ways", fmt::format("{} goes {} --format single", info.name,
                                                         is_single ? "without" : "with"));
    }
  }

  [[nodiscard]] int run() const {
    auto machine = read_machine(machine_path_);
    if (!machine) return complain(kExitBadMachine, machine.error().message);
    if (neighbour_path_.empty()) machine.value().close("neighbour");
    const sim::ParameterSweep sweep(machine.value(), samples_, seed_, !has_no_ends_);
    const sim::ParameterSweep ladder_sweep(machine.value(), samples_, seed_, false);
    if (const uint32_t tiles = sweep.machines().front().tiles(); options_.cores > tiles) {
      return complain(kExitUsage, fmt::format("--cores {}: {} has {}", options_.cores,
                                              name_of_machine(machine_path_), tiles));
    }
    auto neighbour = read_neighbour(neighbour_path_);
    if (!neighbour) return complain(kExitRefused, neighbour.error().message);
    InputOptions wanted = inputs_;
    if (trace_format_) wanted.trace_format = trace_format_;
    wanted.build.seed = seed_;
    wanted.keys = std::max(options_.warm_up + options_.lookups, keys_beside(neighbour.value()));
    wanted.machines = options_.threads;
    const auto inputs = read_inputs(wanted);
    if (!inputs) return complain(kExitRefused, inputs.error().message);
    const Ladder sizes = ladder_for(inputs.value());
    const auto rungs = ladder_rungs(sizes.sizes, sizes.build, rung_options());
    if (!rungs) return complain(kExitRefused, rungs.error().message);
    TupleOptions tuples = tuples_;
    tuples.build = wanted.build;
    const auto spaces = tuple_spaces(tuples, options_);
    if (!spaces) return complain(kExitRefused, spaces.error().message);
    auto ways = run_ways(sweep, inputs.value().question(), options_);
    if (!ways) return complain(kExitStopped, ways.error().message);
    auto ladder = climb(ladder_sweep, rungs.value(), sizes);
    if (!ladder) return complain(kExitStopped, ladder.error().message);
    auto searched = search(sweep, spaces.value(), tuples);
    if (!searched) return complain(kExitStopped, searched.error().message);
    auto shared =
        run_neighbour(sweep, std::move(neighbour).value(), inputs.value().question(), options_);
    if (!shared) return complain(kExitStopped, shared.error().message);
    auto speed_ups = speed_ups_of(sweep, ways.value());
    const RunReport report{.machine_name = name_of_machine(machine_path_),
                           .sweep = &sweep,
                           .seed = seed_,
                           .inputs = &inputs.value(),
                           .options = options_,
                           .ways = std::move(ways).value(),
                           .speed_ups = std::move(speed_ups),
                           .host_check = &sim::host_check(),
                           .ladder = std::move(ladder).value(),
                           .tuples = std::move(searched).value(),
                           .neighbour = std::move(shared).value()};
    fmt::print("{}", json_ ? format_json(report).dump(2) + "\n" : format_text(report));
    return kExitOk;
  }

 private:
  // Tables of the ladder are of the format of the one that is asked, and of --load.
  [[nodiscard]] Ladder ladder_for(const Inputs& inputs) const {
    Ladder ladder{.sizes = ladder_sizes(ladder_entries_),
                  .build = inputs_.build,
                  .lookups = rung_options().lookups};
    ladder.build.seed = seed_;
    if (inputs_.table_path.empty()) return ladder;
    ladder.build.format = inputs.table.metadata.format == sim::TableFormat::kInline
                              ? BuiltFormat::kInline
                              : BuiltFormat::kSplit;
    return ladder;
  }
  // A quarter of the lookups each.
  [[nodiscard]] WayOptions rung_options() const {
    WayOptions options = options_;
    options.lookups = std::max<uint64_t>(options_.lookups / 4, options_.cores);
    return options;
  }

  void add_tuples() {
    auto* tuples = app_->add_option("--tuples", tuples_.counts,
                                    "look each key up in so many tables like that one, under a "
                                    "mask each; several numbers with commas, rising")
                       ->needs(build_)
                       ->delimiter(',')
                       ->check(CLI::Range(uint64_t{1}, kTuplesMax));
    app_->add_option("--found-in", tuples_.found_in,
                     "which of those tables have the keys: last, so that all must be asked; any, "
                     "each as often")
        ->needs(tuples)
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, FoundIn>{{"last", FoundIn::kLast}, {"any", FoundIn::kAny}}));
  }

  void add_amounts() {
    const CLI::Range counts(uint64_t{0}, uint64_t{1} << 31);
    app_->add_option("--cores", options_.cores, "that ask the table, each a part of the keys")
        ->capture_default_str()
        ->check(CLI::Range(1, 16));
    app_->add_option("--warm-up", options_.warm_up, "lookups before those that count")
        ->capture_default_str()
        ->check(counts);
    app_->add_option("--lookups", options_.lookups, "that count, on each machine")
        ->capture_default_str()
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 31));
    app_->add_option("--ladder", ladder_entries_,
                     "entries of the largest table of those that say from which size on an "
                     "accelerator is as fast; 0: none")
        ->capture_default_str()
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 24));
    app_->add_option("--samples", samples_,
                     "machines whose open numbers are low, middle or high by chance, beside those "
                     "with one at an end")
        ->capture_default_str()
        ->check(CLI::Range(0, 100'000));
    app_->add_flag("--no-ends", has_no_ends_,
                   "leave machines with one number at an end out, and so which numbers decide");
    app_->add_option("--seed", seed_, "of samples, of tables that are built, and of their places")
        ->capture_default_str();
    app_->add_option("--cycles-max", options_.cycles_max,
                     "give a simulation up that has run for so many cycles")
        ->capture_default_str()
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
    app_->add_option("--threads", options_.threads, "machines that are simulated at a time")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'024));
  }

  CLI::App* app_;
  CLI::Option* trace_;
  CLI::Option* build_;
  CLI::Option* key_bytes_;
  std::string machine_path_;
  std::string neighbour_path_;
  std::optional<TraceFormat> trace_format_;
  InputOptions inputs_{};
  TupleOptions tuples_{};
  WayOptions options_{.warm_up = 2'000,
                      .lookups = 2'000,
                      .cycles_max = sim::Cycle{1} << 40,
                      .threads = std::max(1U, std::thread::hardware_concurrency())};
  uint64_t ladder_entries_ = 2'048;
  size_t samples_ = 16;
  uint64_t seed_ = 1;
  bool has_no_ends_ = false;
  bool json_ = false;
};

class MachineCommand {
 public:
  explicit MachineCommand(CLI::App& app)
      : app_(app.add_subcommand("machine", "the simulated machine's numbers, with their sources")) {
    auto* print = app_->add_flag("--print", print_it_, "print the default machine, to be changed");
    app_->add_option("--check", path_, "say what is wrong with a machine file")->excludes(print);
  }

  [[nodiscard]] bool is_parsed() const { return app_->parsed(); }

  // Throws CLI::RequiredError.
  void require_arguments() const {
    if (!print_it_ && path_.empty()) throw CLI::RequiredError("--print, or --check FILE,");
  }

  [[nodiscard]] int run() const {
    if (path_.empty()) {
      fmt::print("{}", sim::default_machine_text());
      return kExitOk;
    }
    const auto machine = read_machine(path_);
    if (!machine) return complain(kExitBadMachine, machine.error().message);
    const sim::ParameterSweep sweep(machine.value(), 0, 0);
    fmt::print("{} is right: {} tiles, {} open numbers. Nothing was simulated.\n", path_,
               sweep.machines().front().tiles(), sweep.open_count());
    return kExitOk;
  }

 private:
  CLI::App* app_;
  bool print_it_ = false;
  std::string path_;
};

int run(int count, char** arguments) {
  CLI::App app{kAbout, "roost-halo"};
  app.require_subcommand(1);
  const RunCommand run(app);
  const MachineCommand machine(app);
  app.footer(kFooter);  // subcommands made later would inherit it
  try {
    app.parse(count, arguments);
    if (run.is_parsed()) run.require_arguments();
    if (machine.is_parsed()) machine.require_arguments();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return run.is_parsed() ? run.run() : machine.run();
}

}  // namespace
}  // namespace roost::halo

int main(int count, char** arguments) {
  try {
    return roost::halo::run(count, arguments);
  } catch (const std::bad_alloc&) {
    std::cerr << "roost-halo: there is not enough memory; give a smaller table\n";
  } catch (const std::exception& error) {
    std::cerr << "roost-halo: " << error.what() << "\n";
  }
  return roost::halo::kExitRefused;
}

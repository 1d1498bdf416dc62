#include "apps/halo/neighbour.h"

#include <fmt/format.h>

#include <utility>

#include "apps/halo/on_machines.h"
#include "apps/halo/swept_text.h"
#include "roost/memory/whole_file.h"

namespace roost::halo {

namespace {

using control::Json;
using PairFigures = std::vector<sim::NeighbourFigures>;

Result<PairFigures> run_pair(const sim::ParameterSweep& sweep, const WayOptions& options,
                             std::string_view name, const sim::NeighbourRun& run) {
  return on_machines<sim::NeighbourFigures>(
      sweep, options.threads, fmt::format("the neighbour beside {}", name),
      [&](const sim::Parameters& parameters) { return sim::run_neighbour(parameters, run); });
}

sim::SweptMeasure misses_of(const sim::ParameterSweep& sweep, const PairFigures& figures) {
  std::vector<double> shares;
  for (const sim::NeighbourFigures& one : figures) shares.push_back(one.l1d_miss_share);
  return sweep.measure_of(shares);
}

sim::SweptMeasure loss_of(const sim::ParameterSweep& sweep, const PairFigures& alone,
                          const PairFigures& beside) {
  std::vector<double> losses;
  for (size_t i = 0; i < beside.size(); ++i)
    losses.push_back(1 - beside[i].instructions_a_cycle / alone[i].instructions_a_cycle);
  return sweep.measure_of(losses);
}

std::string percents(const sim::SweptMeasure& share) {
  return fmt::format("{:.1f} to {:.1f} %, {:.1f} in the middle", 100 * share.least,
                     100 * share.greatest, 100 * share.middle);
}

}  // namespace

Result<Neighbour> read_neighbour(const std::string& path) {
  if (path.empty()) return Neighbour{};
  const auto text = read_whole(path);
  if (!text) return text.error();
  auto trace = sim::parse_memory_trace(text.value());
  if (!trace) return Error{path + ": " + trace.error().message};
  return Neighbour{.name = path, .trace = std::move(trace).value()};
}

// A lookup takes 40 cycles at least, and the program an instruction in two.
uint64_t keys_beside(const Neighbour& neighbour) { return neighbour.trace.instructions / 20; }

Result<Neighbour> run_neighbour(const sim::ParameterSweep& sweep, Neighbour neighbour,
                                const Question& question, const WayOptions& options) {
  if (neighbour.name.empty()) return neighbour;
  sim::NeighbourRun run{.trace = &neighbour.trace, .cycles_max = options.cycles_max};
  auto alone = run_pair(sweep, options, "nobody", run);
  if (!alone) return alone.error();
  neighbour.alone = std::move(alone).value();
  neighbour.l1d_miss_share = misses_of(sweep, neighbour.alone);
  const auto add = [&](std::string_view name, std::string_view about) -> std::optional<Error> {
    auto found = run_pair(sweep, options, name, run);
    if (!found) return found.error();
    BesideFigures& beside = neighbour.beside.emplace_back(
        BesideFigures{.name = name, .about = about, .figures = std::move(found).value()});
    beside.loss = loss_of(sweep, neighbour.alone, beside.figures);
    beside.l1d_miss_share = misses_of(sweep, beside.figures);
    return {};
  };
  run.other = sim::OtherThread::kWaits;
  static_assert(sim::kWaitedCycles == 300, "the text below says so");
  if (auto error = add("waiting", "a thread that waits 300 cycles at a time")) return *error;
  run.other = sim::OtherThread::kAsks;
  for (const WayInfo& info : kWays) {
    if (!is_wanted(info, question, options)) continue;
    const sim::LookupRun lookups = run_of(info, question, options);
    run.lookups = &lookups;
    if (auto error = add(info.name, info.about)) return *error;
  }
  return neighbour;
}

void add_neighbour(std::vector<std::string>& lines, const Neighbour& neighbour) {
  if (neighbour.name.empty()) return;
  const sim::MemoryTrace& trace = neighbour.trace;
  const std::string emulated = "neighbour, emulated: ";
  lines.push_back(fmt::format(
      "{}{}: {} instructions with {} loads and {} stores on {} pages, the second half of which "
      "counts; on one thread of a core whose other thread looks keys up all the time",
      emulated, neighbour.name, trace.instructions, trace.loads, trace.stores, trace.pages));
  lines.push_back(fmt::format(
      "{}alone on the core: {:.2f} instructions a cycle in the middle; of its loads L1D has not {}",
      emulated, neighbour.alone.front().instructions_a_cycle, percents(neighbour.l1d_miss_share)));
  for (const BesideFigures& one : neighbour.beside) {
    lines.push_back(fmt::format(
        "{}beside {} ({}): it loses {} of its throughput; of its loads L1D has not {}; meanwhile "
        "{:.2f} million lookups a second in the middle",
        emulated, one.name, one.about, percents(one.loss), percents(one.l1d_miss_share),
        one.figures.front().lookups_per_second / 1e6));
    for (const sim::Sensitivity& mover : movers_of(one.loss)) {
      lines.push_back(fmt::format("{}beside {}: {} from {} to {}: loses {:.1f} to {:.1f} %",
                                  emulated, one.name, name_of(*mover.parameter), mover.low,
                                  mover.high, 100 * mover.at_low, 100 * mover.at_high));
    }
  }
}

Json neighbour_json(const Neighbour& neighbour) {
  if (neighbour.name.empty()) return {};
  Json all = Json::array();
  for (const BesideFigures& one : neighbour.beside) {
    const sim::NeighbourFigures& middle = one.figures.front();
    all.push_back({{"name", one.name},
                   {"about", one.about},
                   {"simulated", true},
                   {"emulated", true},
                   {"loss", interval_json(one.loss)},
                   {"decided_by", movers_json(one.loss, "loss")},
                   {"l1d_miss_share", interval_json(one.l1d_miss_share)},
                   {"middle",
                    {{"cycles", middle.cycles},
                     {"instructions_a_cycle", middle.instructions_a_cycle},
                     {"lookups_per_second", middle.lookups_per_second}}}});
  }
  return {{"name", neighbour.name},
          {"instructions", neighbour.trace.instructions},
          {"loads", neighbour.trace.loads},
          {"stores", neighbour.trace.stores},
          {"pages", neighbour.trace.pages},
          {"alone",
           {{"cycles", neighbour.alone.front().cycles},
            {"instructions_a_cycle", neighbour.alone.front().instructions_a_cycle},
            {"l1d_miss_share", interval_json(neighbour.l1d_miss_share)}}},
          {"beside", all}};
}

}  // namespace roost::halo

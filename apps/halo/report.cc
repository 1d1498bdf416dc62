#include "apps/halo/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/halo/swept_text.h"

namespace roost::halo {

namespace {

using control::Json;

// Lookups a second, in millions.
std::string millions(double rate) { return fmt::format("{:.2f}", rate / 1e6); }

// `of` says what is looked up, where that is not the one table.
void add_way(std::vector<std::string>& lines, const std::string& of, const WayFigures& way,
             const sim::Parameters& middle) {
  const sim::SweptMeasure& rate = way.lookups_per_second;
  const sim::LookupFigures& figures = way.middle();
  const auto line = [&](const std::string& text) {
    lines.push_back(fmt::format("{}{}: {}", of, way.info->name, text));
  };
  line(fmt::format("{} to {} million lookups a second, {} in the middle; {}", millions(rate.least),
                   millions(rate.greatest), millions(rate.middle), way.info->about));
  for (const sim::Sensitivity& mover : movers_of(rate)) {
    line(fmt::format("{} from {} to {}: {} to {} million lookups a second",
                     name_of(*mover.parameter), mover.low, mover.high, millions(mover.at_low),
                     millions(mover.at_high)));
  }
  if (way.info->is_software()) {
    line(fmt::format("in the middle, {:.1f} cycles and {:.1f} instructions a lookup",
                     figures.cycles_per_lookup, figures.instructions_per_lookup));
    line(fmt::format(
        "in the middle, {:.2f} lines a lookup that L2 has not, {:.2f} of them in DRAM; "
        "cores stand still for such loads in {:.1f} % of the cycles",
        figures.l2_misses_per_lookup, figures.llc_misses_per_lookup, 100 * figures.stall_share));
    return;
  }
  line(
      fmt::format("in the middle, {:.1f} cycles a lookup, {:.2f} lines of the table; {:.1f} % look "
                  "at a second bucket; {:.4f} keys a lookup have the signature only",
                  figures.cycles_per_lookup, figures.lines_per_lookup,
                  100 * figures.second_bucket_share, figures.mismatches_per_lookup));
  if (!of.empty()) {
    line(
        fmt::format("in the middle, a key is asked for in {:.2f} tables; the busiest accelerator "
                    "has {:.1f} % of that",
                    figures.tables_per_lookup, 100 * figures.busiest_share));
  }
  line(fmt::format(
      "in the middle, accelerators: {} of {} in use; of the busiest one {:.2f} of {} "
      "places, all of them in {:.1f} % of the cycles; at most {} lookups waited for one",
      figures.accelerators, middle.tiles(), figures.places_used, middle.accelerator_scoreboard,
      100 * figures.full_share, figures.waiting_max));
}

void add_speed_up(std::vector<std::string>& lines, const std::string& of, const SpeedUp& one) {
  std::string movers;
  for (const sim::Sensitivity& mover : movers_of(one.times)) {
    movers +=
        fmt::format("{} {} from {} to {} ({:.2f} to {:.2f})", movers.empty() ? "" : ",",
                    name_of(*mover.parameter), mover.low, mover.high, mover.at_low, mover.at_high);
  }
  lines.push_back(
      fmt::format("{}{} over {}: {:.2f} to {:.2f} times as fast, {:.2f} in the middle{}{}", of,
                  one.way->name, one.over->name, one.times.least, one.times.greatest,
                  one.times.middle, movers.empty() ? "" : "; moved most by", movers));
}

void add_floor(std::vector<std::string>& lines, const sim::HostCheck& check) {
  const sim::HostPoint* worst = check.worst();
  if (worst == nullptr) return;
  lines.push_back(
      fmt::format("floor: no speed-up is surer than this: on a real machine the simulator was off "
                  "by up to {:.2f}, predicted over measured ({}; {}; {})",
                  worst->ratio(), worst->name, check.machine, check.date));
}

std::string words_of(EvenFrom from) { return from ? fmt::format("{}", *from) : "none"; }

// `what` there is so much of.
void add_break_evens(std::vector<std::string>& lines, std::string_view what,
                     const std::vector<BreakEven>& found) {
  for (const BreakEven& one : found) {
    lines.push_back(
        fmt::format("break-even: {} over {}: {} from which on it is as fast: {} in the middle, {} "
                    "at best, {} at worst",
                    one.way->name, one.over->name, what, words_of(one.middle), words_of(one.least),
                    words_of(one.greatest)));
  }
}

void add_ladder(std::vector<std::string>& lines, const Ladder& ladder) {
  if (ladder.sizes.empty()) return;
  lines.push_back(fmt::format("break-even: tables of {} entries, load {}, {} lookups of each",
                              fmt::join(ladder.sizes, ", "), ladder.build.load, ladder.lookups));
  add_break_evens(lines, "entries", ladder.found);
}

std::string name_of(FoundIn found_in) { return found_in == FoundIn::kLast ? "last" : "any"; }

void add_tuples(std::vector<std::string>& lines, const Tuples& tuples,
                const sim::Parameters& middle) {
  for (const TuplePoint& point : tuples.points) {
    const std::string of = fmt::format("{} tuples: ", point.count);
    lines.push_back(fmt::format(
        "{}tables of {} entries, load {}, a mask each; a lookup is of a key in all of them, until "
        "it is found: in {}; {} lookups after {} to warm up",
        of, tuples.options.build.entries, tuples.options.build.load,
        tuples.options.found_in == FoundIn::kLast ? "the last one" : "each as often",
        point.options.lookups, point.options.warm_up));
    for (const WayFigures& way : point.ways) add_way(lines, of, way, middle);
    for (const SpeedUp& one : point.speed_ups) add_speed_up(lines, of, one);
  }
  add_break_evens(lines, "tuples", tuples.found);
}

// Of one figure on all machines.
Json figure_json(const WayFigures& way, double sim::LookupFigures::*figure) {
  const auto [least, greatest] = std::ranges::minmax(way.figures, {}, figure);
  return {
      {"least", least.*figure}, {"middle", way.middle().*figure}, {"greatest", greatest.*figure}};
}

Json cores_json(const WayFigures& way) {
  using Figures = sim::LookupFigures;
  return {{"l2_misses_per_lookup", figure_json(way, &Figures::l2_misses_per_lookup)},
          {"llc_misses_per_lookup", figure_json(way, &Figures::llc_misses_per_lookup)},
          {"stall_share", figure_json(way, &Figures::stall_share)}};
}

Json accelerators_json(const sim::LookupFigures& figures) {
  return {{"tables_per_lookup", figures.tables_per_lookup},
          {"busiest_share", figures.busiest_share},
          {"lines_per_lookup", figures.lines_per_lookup},
          {"second_bucket_share", figures.second_bucket_share},
          {"mismatches_per_lookup", figures.mismatches_per_lookup},
          {"hashes_per_lookup", figures.hashes_per_lookup},
          {"key_lines_per_lookup", figures.key_lines_per_lookup},
          {"locks_per_lookup", figures.locks_per_lookup},
          {"accelerators", figures.accelerators},
          {"places_used", figures.places_used},
          {"full_share", figures.full_share},
          {"waiting_max", figures.waiting_max}};
}

Json way_json(const WayFigures& way) {
  const sim::LookupFigures& figures = way.middle();
  Json middle = {{"cycles", figures.cycles},
                 {"cycles_per_lookup", figures.cycles_per_lookup},
                 {"instructions_per_lookup", figures.instructions_per_lookup},
                 {"loads_per_lookup", figures.loads_per_lookup},
                 {"hit_share", figures.hit_share}};
  if (!way.info->is_software()) middle.update(accelerators_json(figures));
  Json json = {{"name", way.info->name},
               {"simulated", true},
               {"is_software", way.info->is_software()},
               {"about", way.info->about},
               {"lookups_per_second", interval_json(way.lookups_per_second)},
               {"decided_by", movers_json(way.lookups_per_second, "lookups_per_second")},
               {"middle", middle}};
  if (way.info->is_software()) json.update(cores_json(way));
  return json;
}

Json speed_ups_json(const std::vector<SpeedUp>& speed_ups) {
  Json all = Json::array();
  for (const SpeedUp& one : speed_ups) {
    all.push_back({{"way", one.way->name},
                   {"over", one.over->name},
                   {"simulated", true},
                   {"times", interval_json(one.times)},
                   {"decided_by", movers_json(one.times, "times")}});
  }
  return all;
}

// null: nothing is kept.
Json floor_json(const sim::HostCheck& check) {
  const sim::HostPoint* worst = check.worst();
  if (worst == nullptr) return {};
  return {{"predicted_over_measured", worst->ratio()},
          {"point", worst->name},
          {"machine", check.machine},
          {"date", check.date}};
}

Json even_json(EvenFrom from) { return from ? Json(*from) : Json(); }

Json break_evens_json(const std::string& what, const std::vector<BreakEven>& break_evens) {
  Json found = Json::array();
  for (const BreakEven& one : break_evens) {
    found.push_back({{"way", one.way->name},
                     {"over", one.over->name},
                     {"simulated", true},
                     {what,
                      {{"least", even_json(one.least)},
                       {"middle", even_json(one.middle)},
                       {"greatest", even_json(one.greatest)}}}});
  }
  return found;
}

Json ladder_json(const Ladder& ladder) {
  return {{"sizes", ladder.sizes},
          {"load", ladder.build.load},
          {"lookups", ladder.lookups},
          {"found", break_evens_json("entries", ladder.found)}};
}

Json ways_json(const std::vector<WayFigures>& ways) {
  Json all = Json::array();
  for (const WayFigures& way : ways) all.push_back(way_json(way));
  return all;
}

Json tuples_json(const Tuples& tuples) {
  Json points = Json::array();
  for (const TuplePoint& point : tuples.points) {
    points.push_back({{"tuples", point.count},
                      {"simulated", true},
                      {"lookups", point.options.lookups},
                      {"warm_up", point.options.warm_up},
                      {"ways", ways_json(point.ways)},
                      {"speed_ups", speed_ups_json(point.speed_ups)}});
  }
  return {{"entries", tuples.options.build.entries},
          {"load", tuples.options.build.load},
          {"found_in", name_of(tuples.options.found_in)},
          {"points", points},
          {"break_even", break_evens_json("tuples", tuples.found)}};
}

}  // namespace

std::string format_text(const RunReport& report) {
  const Inputs& inputs = *report.inputs;
  const sim::TableMetadata& table = inputs.table.metadata;
  const sim::Parameters& middle = report.sweep->machines().front();
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "{}: {} tiles at {} MHz; {} machines over {} open numbers, {} of them "
      "samples of seed {}",
      report.machine_name, middle.tiles(), middle.clock_megahertz, report.sweep->machines().size(),
      report.sweep->open_count(), report.sweep->sample_count(), report.seed));
  lines.push_back(fmt::format("{}: {}; {} entries of {} + {} bytes, load {:.2f}, {} bytes in all",
                              inputs.table_name, inputs.kind, inputs.table.entries, table.key_bytes,
                              table.value_bytes, inputs.load(), inputs.image().size()));
  const auto keys = static_cast<double>(inputs.trace.keys.size());
  lines.push_back(fmt::format("{}: {} keys, {:.1f} % of them in the table; {} packets without one",
                              inputs.trace_name, inputs.trace.keys.size(),
                              100 * static_cast<double>(inputs.hits) / keys,
                              inputs.trace.without_key));
  lines.push_back(fmt::format(
      "each machine: {} cores, {} lookups after {} to warm up, which begin with the table in {}",
      report.options.cores, report.options.lookups, report.options.warm_up,
      report.options.is_cold ? "DRAM" : "the caches, as far as it fits"));
  for (const WayFigures& way : report.ways) add_way(lines, "", way, middle);
  for (const SpeedUp& one : report.speed_ups) add_speed_up(lines, "", one);
  add_floor(lines, *report.host_check);
  add_ladder(lines, report.ladder);
  add_tuples(lines, report.tuples, middle);
  add_neighbour(lines, report.neighbour);
  std::string text;
  for (const std::string& line : lines) text += "simulated: " + line + "\n";
  return text;
}

Json format_json(const RunReport& report) {
  const Inputs& inputs = *report.inputs;
  const sim::TableMetadata& table = inputs.table.metadata;
  const sim::Parameters& middle = report.sweep->machines().front();
  return {{"simulated", true},
          {"machine",
           {{"name", report.machine_name},
            {"tiles", middle.tiles()},
            {"clock_megahertz", middle.clock_megahertz},
            {"scoreboard", middle.accelerator_scoreboard},
            {"open_parameters", report.sweep->open_count()},
            {"machines", report.sweep->machines().size()},
            {"samples", report.sweep->sample_count()},
            {"seed", report.seed}}},
          {"table",
           {{"name", inputs.table_name},
            {"kind", inputs.kind},
            {"entries", inputs.table.entries},
            {"key_bytes", table.key_bytes},
            {"value_bytes", table.value_bytes},
            {"load", inputs.load()},
            {"image_bytes", inputs.image().size()}}},
          {"trace",
           {{"name", inputs.trace_name},
            {"keys", inputs.trace.keys.size()},
            {"hits", inputs.hits},
            {"packets_without_key", inputs.trace.without_key}}},
          {"cores", report.options.cores},
          {"begins_cold", report.options.is_cold},
          {"warm_up", report.options.warm_up},
          {"lookups", report.options.lookups},
          {"ways", ways_json(report.ways)},
          {"speed_ups", speed_ups_json(report.speed_ups)},
          {"floor", floor_json(*report.host_check)},
          {"break_even", ladder_json(report.ladder)},
          {"tuples", tuples_json(report.tuples)},
          {"neighbour", neighbour_json(report.neighbour)}};
}

}  // namespace roost::halo

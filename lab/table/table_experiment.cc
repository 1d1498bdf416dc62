#include "lab/table/table_experiment.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/contestants/boost_flat_map.h"
#include "lab/contestants/empty_loop.h"
#include "lab/contestants/line_ceiling.h"
#include "lab/contestants/roost_c_table.h"
#include "lab/contestants/roost_flow_table.h"
#include "lab/contestants/rte_hash.h"
#include "lab/harness/contestant.h"
#include "lab/harness/drive.h"
#include "lab/harness/rounds.h"
#include "lab/harness/workload.h"
#include "roost/memory/pages_behind.h"

namespace roost::lab {
namespace {

constexpr size_t kPlainLanes = 32;
constexpr size_t kOverlappedLanes = 256;
constexpr std::array kMissRatios = {0.0, 0.5, 1.0};

uint64_t entry_count(const TableExperiment& config) {
  return static_cast<uint64_t>(static_cast<double>(config.slots) * config.load);
}

// A table of the experiment's size, filled.
template <Contestant Table>
Result<Table> filled(const TableExperiment& config, const traffic::KeySource& keys,
                     const std::function<void(const std::string&)>& say) {
  say(fmt::format("filling {}", Table::kName));
  Result<Table> table = Table::create(config.slots, config.pages);
  if (!table) return table;
  for (uint64_t index = 0; index < entry_count(config); ++index) {
    const Key key = keys.inserted(index);
    if (!table.value().insert(key, value_of(key))) {
      return Error{fmt::format("{} was full after {} of {} entries", Table::kName, index,
                               entry_count(config))};
    }
  }
  return table;
}

PagesBehind pages_at(const void* address) { return read_pages(address).value_or(PagesBehind{}); }

// One form of a table: how it is called, and how it looks keys up (the table itself, or a view of
// it). Both outlive the entrant.
template <Contestant Table, Checkable View>
Entrant entrant_of(Table& table, View& view, const traffic::KeySource& keys, size_t lanes_per_call,
                   const std::string& form) {
  return {
      .contestant = std::string(Table::kName),
      .form = form,
      .lanes_per_call = lanes_per_call,
      .table_bytes = table.memory_bytes(),
      .pages = pages_at(table.entry_address(keys.inserted(0))),
      .first_wrong =
          [&view, lanes_per_call](const Stream& stream) {
            return first_wrong_answer(view, stream.as<Key>(), lanes_per_call);
          },
      .expected = [](const Stream& stream) { return expected_outcome(stream.as<Key>()); },
      .pass = [&view, lanes_per_call](
                  const Stream& stream) { return drive(view, stream.as<Key>(), lanes_per_call); }};
}

std::optional<std::string> nothing_to_check(const Stream&) { return std::nullopt; }

void add_ceilings(const LineCeiling& ceiling, std::vector<Entrant>& entrants) {
  for (const LineCeiling::Variant& variant : ceiling.variants()) {
    entrants.push_back(
        {.contestant = std::string(ceiling.name()),
         .form = std::string(variant.name),
         .lanes_per_call = kPlainLanes,
         .table_bytes = LineCeiling::bytes_of(ceiling.shape()),
         .pages = pages_at(ceiling.entry_address()),
         .first_wrong = nothing_to_check,
         .expected =
             [&ceiling](const Stream& stream) { return ceiling.expected(stream.as<Key>()); },
         .pass = [&ceiling, pass = variant.pass](
                     const Stream& stream) { return pass(ceiling, stream.as<Key>()); }});
  }
}

void add_empty_loop(EmptyLoop& empty, std::vector<Entrant>& entrants) {
  for (const size_t lanes : {kPlainLanes, kOverlappedLanes}) {
    entrants.push_back(
        {.contestant = std::string(EmptyLoop::kName),
         .form = fmt::format("{} keys a call", lanes),
         .lanes_per_call = lanes,
         .table_bytes = 0,
         .pages = {},
         .first_wrong = nothing_to_check,
         .expected = [](const Stream& stream) { return EmptyLoop::expected(stream.as<Key>()); },
         .pass = [&empty,
                  lanes](const Stream& stream) { return drive(empty, stream.as<Key>(), lanes); }});
  }
}

std::string csv_line(const TableExperiment& config, const Entrant& entrant, double miss_ratio,
                     const Timing& timing) {
  return fmt::format(
      "table,measured,{},{},{},{},{},{},{},{},{},{},{:.9f},{:.4f},{},{},{},{},{}\n", config.slots,
      entry_count(config), config.load, entrant.contestant, entrant.form, entrant.lanes_per_call,
      miss_ratio, timing.round, config.warm_up_rounds, config.lookups, timing.seconds,
      static_cast<double>(config.lookups) / timing.seconds / 1e6, entrant.pages.page_bytes,
      entrant.pages.transparent_huge_bytes, entrant.table_bytes, config.core, config.seed);
}

}  // namespace

std::string table_csv_header() {
  return "experiment,kind,slots,entries,load,contestant,form,lanes_per_call,miss_ratio,round,warm_"
         "up_rounds,lookups,"
         "seconds,mlookups_per_s,page_bytes,transparent_huge_bytes,table_bytes,core,seed\n";
}

Result<std::string> run_table(const TableExperiment& config,
                              const std::function<void(const std::string&)>& say) {
  const traffic::KeySource keys(config.seed);
  auto ours = filled<RoostFlowTable>(config, keys, say);
  if (!ours) return ours.error();
  const FewestLines shape = ours.value().fewest_lines();
  const auto memory = LineCeiling::make_memory(LineCeiling::bytes_of(shape), config.pages);
  if (!memory) return memory.error();
  const LineCeiling ceiling(memory.value(), shape);
  RoostFlowTableAhead ahead(ours.value());
  EmptyLoop empty;

  std::vector<Entrant> entrants;
  const auto enter = [&](auto& table, auto& view, size_t lanes_per_call, const char* form) {
    entrants.push_back(entrant_of(table, view, keys, lanes_per_call, form));
  };
  enter(ours.value(), ours.value(), kPlainLanes, "32 keys a call");
  enter(ours.value(), ours.value(), kOverlappedLanes, "256 keys a call");
  enter(ours.value(), ahead, kPlainLanes, "32 keys and the next 32 named");
  std::vector<std::shared_ptr<void>> others;
  std::optional<Error> wrong;
  const auto fill_and_enter = [&]<class Table>(std::type_identity<Table>, const char* form) {
    if (wrong) return;
    Result<Table> made = filled<Table>(config, keys, say);
    if (!made) {
      wrong = made.error();
      return;
    }
    const auto table = std::make_shared<Table>(std::move(made).value());
    enter(*table, *table, kPlainLanes, form);
    others.push_back(table);
  };
  fill_and_enter(std::type_identity<RoostTable<OptimisticProbing>>(), "32 keys a call");
  fill_and_enter(std::type_identity<RoostTable<PessimisticProbing<>>>(), "32 keys a call");
  fill_and_enter(std::type_identity<RoostTable<HortonProbing>>(), "32 keys a call");
  fill_and_enter(std::type_identity<RoostCTable>(), "32 keys a call");
  fill_and_enter(std::type_identity<RteHash>(), "32 keys a call");
  fill_and_enter(std::type_identity<BoostFlatMap>(), "find");
  if (wrong) return *wrong;
  add_ceilings(ceiling, entrants);
  add_empty_loop(empty, entrants);

  std::vector<NamedStream> streams;
  streams.reserve(kMissRatios.size());
  for (const double miss_ratio : kMissRatios) {
    streams.push_back({fmt::format("miss ratio {}", miss_ratio),
                       Stream(traffic::query_stream(keys, {.entry_count = entry_count(config),
                                                           .query_count = config.lookups,
                                                           .miss_ratio = miss_ratio}))});
  }

  say(fmt::format("checking every answer of {} entrants, then {} rounds", entrants.size(),
                  config.rounds));
  const auto timings = measure(entrants, streams,
                               {.warm_up_rounds = config.warm_up_rounds, .rounds = config.rounds});
  if (!timings) return timings.error();
  std::string lines;
  for (const Timing& timing : timings.value()) {
    lines += csv_line(config, entrants[timing.entrant], kMissRatios[timing.stream], timing);
  }
  return lines;
}

}  // namespace roost::lab

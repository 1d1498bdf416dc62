#include "lab/lb/cell_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "lab/lb/record_balancer.h"
#include "lab/store/common_index.h"
#include "lab/store/common_values.h"
#include "lab/store/last_seen.h"
#include "roost/conntrack/tables.h"
#include "roost/conntrack/timeouts.h"

namespace roost::lab {
namespace {

using Cells = std::vector<std::unique_ptr<Cell>>;

constexpr std::string_view kSlotTimers = "slot_timers";
constexpr std::string_view kSlotTimersLazy = "slot_timers lazy";
constexpr std::string_view kSlotTimersLastSeen = "slot_timers last_seen";
constexpr std::string_view kSlotTimersNone = "slot_timers none";
constexpr std::array<std::pair<std::string_view, ExpiryKind>, 4> kExpiries = {
    {{"none", ExpiryKind::kNone},
     {"scan", ExpiryKind::kScan},
     {"table_scan", ExpiryKind::kTableScan},
     {"wheel", ExpiryKind::kWheel}}};

std::string name_of(const StoreKind& store, std::string_view expiry) {
  return fmt::format("{} {}", store.name, expiry);
}
std::string name_of(const SharingKind& sharing) { return "common " + sharing.name; }

CellTraffic traffic_of(const CellSetup& setup, size_t worker) {
  return {.both_ends = setup.both_ends,
          .worker = worker,
          .worker_count = setup.worker_count,
          .nanoseconds_per_tick = static_cast<uint64_t>(setup.tick_seconds * 1e9),
          .has_upkeep = setup.has_upkeep,
          .upkeep_nanoseconds = static_cast<uint64_t>(setup.scan_period_seconds * 1e9)};
}

std::string timeouts_of(const CellSetup& setup) {
  return fmt::format(
      "udp = {0}\ntcp_established = {0}\ntcp_syn = {2}\ntcp_closing = {1}\ntcp_closed = {1}\n",
      setup.established_seconds, setup.closed_seconds,
      setup.syn_seconds.value_or(setup.established_seconds));
}

// Nothing ends, and nothing is looked for.
CellSetup without_end(CellSetup setup) {
  setup.established_seconds = setup.closed_seconds = setup.tick_seconds * kTimeoutTicksMax;
  setup.has_upkeep = false;
  return setup;
}

template <class Tables>
std::optional<Error> add_balancer(const CellSetup& setup, Tables tables, Cells& cells,
                                  CountEntries common_entries = {}) {
  if constexpr (requires { tables.looks; }) tables.looks = std::make_shared<uint64_t>(0);
  auto balancer = Balancer<Tables>::create({.connections = setup.connections,
                                            .hash_seed = setup.hash_seed,
                                            .timeouts = timeouts_of(setup),
                                            .mode = setup.mode,
                                            .tick_seconds = setup.tick_seconds},
                                           node::FlowOwner({}), tables);
  if (!balancer) return balancer.error();
  auto holder = std::make_unique<BalancerCell<Tables>>(
      std::move(balancer).value(), std::move(tables), std::move(common_entries));
  cells.push_back(std::make_unique<CellOf<BalancerCell<Tables>>>(std::move(holder),
                                                                 traffic_of(setup, cells.size())));
  return {};
}

// Each worker has tables of its own.
template <class Tables>
Result<Cells> make_sharded(const CellSetup& setup, const Tables& tables) {
  Cells cells;
  while (cells.size() < setup.worker_count)
    if (auto error = add_balancer(setup, tables, cells)) return *error;
  return cells;
}

Result<Cells> make_last_seen(CellSetup setup) {
  if (setup.closed_seconds != setup.established_seconds)
    return Error{
        fmt::format("its connections have one timeout: closed ones cannot have {} seconds "
                    "and others {}",
                    setup.closed_seconds, setup.established_seconds)};
  setup.has_upkeep = false;
  const auto ticks = conntrack::timeout_ticks(setup.established_seconds, setup.tick_seconds);
  return make_sharded(setup, LastSeenTables{{}, ticks.value_or(kTimeoutTicksMax)});
}

Result<Cells> make_slot_timers(std::string_view name, CellSetup setup) {
  setup.scan_period_seconds = 0;
  if (name == kSlotTimersNone) setup = without_end(setup);
  if (name == kSlotTimersLazy) setup.has_upkeep = false;
  if (name == kSlotTimersLastSeen) return make_last_seen(setup);
  return make_sharded(setup, conntrack::OwnTables{});
}

// In direct server return, nothing is in the table of replies.
MakeSmallValues<net::FlowKey4> replies_for(const CellSetup& setup,
                                           MakeSmallValues<net::FlowKey4> make) {
  if (setup.both_ends) return make;
  return [make](const TableConfig&) { return make({.capacity = 64, .entries_max = 32}); };
}

// All workers have one table.
Result<Cells> make_common(const CellSetup& setup, const SharingKind& sharing) {
  const uint64_t all = setup.connections * setup.worker_count;
  Result<CommonViews> views =
      sharing.make({.capacity = all * 10 / 9, .entries_max = all, .hash_seed = setup.hash_seed},
                   setup.worker_count);
  if (!views) return views.error();
  Cells cells;
  for (auto& view : views.value()) {
    // The view stays where it is; only who owns it changes.
    const auto entries = [table = view.get()] { return table->size(); };
    const auto make_index =
        [&view](const TableConfig& config) -> Result<std::unique_ptr<Index<net::FlowKey4>>> {
      auto numbers = NumberedKeys<net::FlowKey4>::create(config.entries_max, {});
      if (!numbers) return numbers.error();
      return std::unique_ptr<Index<net::FlowKey4>>(std::make_unique<CommonIndex<net::FlowKey4>>(
          std::move(view), std::move(numbers).value()));
    };
    const StoreKind store{sharing.name, make_index,
                          replies_for(setup, store_kind("chained_map").make_values)};
    const RecordTables tables{.kind = store, .expiry = ExpiryKind::kWheel};
    if (auto error = add_balancer(setup, tables, cells, entries)) return *error;
  }
  return cells;
}

Cells make_raw(const CellSetup& setup) {
  Cells cells;
  while (cells.size() < setup.worker_count)
    cells.push_back(std::make_unique<CellOf<RawCell>>(std::make_unique<RawCell>(),
                                                      traffic_of(setup, cells.size())));
  return cells;
}

}  // namespace

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const std::string_view name :
       {kRawCell, kSlotTimers, kSlotTimersLazy, kSlotTimersLastSeen, kSlotTimersNone})
    names.emplace_back(name);
  for (const StoreKind& store : store_kinds())
    for (const auto& expiry : kExpiries) names.push_back(name_of(store, expiry.first));
  for (const SharingKind& sharing : sharing_kinds()) names.push_back(name_of(sharing));
  return names;
}

Result<Cells> make_cells(std::string_view name, const CellSetup& setup) {
  if (name == kRawCell) return make_raw(setup);
  if (name.starts_with(kSlotTimers)) return make_slot_timers(name, setup);
  for (const StoreKind& store : store_kinds()) {
    for (const auto& [expiry, kind] : kExpiries) {
      if (name_of(store, expiry) != name) continue;
      StoreKind without_replies = store;
      without_replies.make_values = replies_for(setup, store.make_values);
      CellSetup of_kind = kind == ExpiryKind::kNone ? without_end(setup) : setup;
      if (kind != ExpiryKind::kTableScan) of_kind.scan_period_seconds = 0;
      return make_sharded(
          of_kind,
          RecordTables{.kind = without_replies, .expiry = kind, .scan_share = setup.scan_share});
    }
  }
  for (const SharingKind& sharing : sharing_kinds())
    if (name_of(sharing) == name) return make_common(setup, sharing);
  return Error{fmt::format("there is no cell \"{}\"", name)};
}

}  // namespace roost::lab

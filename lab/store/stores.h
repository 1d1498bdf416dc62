// The tables that a connection tracker's datapath is measured on (roost/conntrack/tables.h):
// connections in records beside a table of one's choice, expiring by a mechanism of one's choice.
// Ours with timers in its slots are conntrack::OwnTables.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lab/store/index.h"
#include "lab/store/plain_table.h"
#include "lab/store/record_expiry.h"
#include "lab/store/record_table.h"
#include "roost/net/flow_key.h"

namespace roost::lab {

// What connections of IPv4 stand in, and their replies.
struct StoreKind {
  std::string_view name;
  MakeIndex<net::FlowKey4> make_index;
  MakeSmallValues<net::FlowKey4> make_values;
};
// All there are; those of DPDK need a started Eal.
[[nodiscard]] std::span<const StoreKind> store_kinds();
// One that is there.
[[nodiscard]] const StoreKind& store_kind(std::string_view name);

// IPv6 is not measured: its connections, of which there are none, stand in a standard map.
[[nodiscard]] Result<std::unique_ptr<Index<net::FlowKey6>>> make_unused_index(
    const TableConfig& config);
[[nodiscard]] Result<std::unique_ptr<SmallValues<net::FlowKey6>>> make_unused_values(
    const TableConfig& config);

struct RecordTables {
  template <class Key, class Value>
  using Plain = PlainTable<Key>;
  template <class Key, class Value, class Callback>
  using Timed = RecordTable<Key, Value, Callback>;

  StoreKind kind;
  ExpiryKind expiry = ExpiryKind::kScan;
  // Of a scan of the table: the share of its places that it looks at in one call; 0: as much as the
  // tracker asks for.
  double scan_share = 0;
  // Records that were looked at for having expired.
  std::shared_ptr<uint64_t> looks = std::make_shared<uint64_t>(0);

  template <class Key, class Value>
  Result<PlainTable<Key>> make_plain(const TableConfig& config) const {
    static_assert(std::is_same_v<Value, uint32_t>);
    Result<std::unique_ptr<SmallValues<Key>>> values = [&] {
      if constexpr (std::is_same_v<Key, net::FlowKey4>)
        return kind.make_values(config);
      else
        return make_unused_values(config);
    }();
    if (!values) return values.error();
    return PlainTable<Key>(std::move(values).value());
  }

  template <class Key, class Value, class Callback>
  Result<RecordTable<Key, Value, Callback>> make_timed(const TableConfig& config,
                                                       Callback callback) const {
    Result<std::unique_ptr<Index<Key>>> index = [&] {
      if constexpr (std::is_same_v<Key, net::FlowKey4>)
        return kind.make_index(config);
      else
        return make_unused_index(config);
    }();
    if (!index) return index.error();
    return RecordTable<Key, Value, Callback>::create(std::move(index).value(),
                                                     {.expiry = expiry,
                                                      .scan_share = scan_share,
                                                      .memory = {.pages = config.pages},
                                                      .looks = looks},
                                                     std::move(callback));
  }
};

}  // namespace roost::lab

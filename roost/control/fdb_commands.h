// The command `fdb` of functions that have a forwarding database: entries listed by pages, counted,
// added, deleted, flushed, imported and exported. The control thread does it all itself; no worker
// waits for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "roost/base/result.h"
#include "roost/bridge/fdb.h"
#include "roost/bridge/vlan_ports.h"
#include "roost/control/commands.h"
#include "roost/control/json.h"

namespace roost::control {

[[nodiscard]] Json fdb_view(const Json& result);
// "drop" for none.
[[nodiscard]] Json fdb_port_json(bridge::FdbValue value);

inline constexpr std::array kFdbParameters = {
    Parameter{.name = "action",
              .is_positional = true,
              .choices = "list count add delete flush import export",
              .help = "list (the default) or count entries; add a static one, delete one, flush "
                      "many; import or export a file"},
    Parameter{.name = "path",
              .is_positional = true,
              .help = "the file to import or export, as the switch sees it; a line an entry: VLAN "
                      "MAC PORT KIND"},
    Parameter{.name = "vlan", .kind = ParameterKind::kNumber, .help = "only of this VLAN"},
    Parameter{.name = "mac", .help = "only of this address"},
    Parameter{.name = "port", .kind = ParameterKind::kNumber, .help = "only at this port"},
    Parameter{.name = "kind",
              .choices = "learned static",
              .help = "only of this kind; flush takes learned ones, unless it is told otherwise"},
    Parameter{.name = "drop",
              .kind = ParameterKind::kFlag,
              .help = "add: the station has no port; its frames are dropped"},
    Parameter{.name = "limit", .kind = ParameterKind::kNumber, .help = "rows of a page"},
    Parameter{.name = "cursor", .help = "where the page before ended"}};

inline constexpr Command kFdbCommand = {
    .name = "fdb",
    .help = "the forwarding database: which station is at which port",
    .parameters = kFdbParameters,
    .view = fdb_view};

// What the command works on.
struct FdbSource {
  bridge::Fdb& fdb;
  const bridge::VlanPorts& vlans;
  size_t port_count = 0;
  uint64_t static_max = 0;
  std::string static_advice{};  // what to do if there is no room for a static entry
  double tick_seconds = 1;
  std::function<Result<Tick>()> now{};  // the workers' time
};

[[nodiscard]] Result<Json> run_fdb(const Json& parameters, const FdbSource& source);

}  // namespace roost::control

// What the control shows of connections, one by one: pages of them, counts, and deleting them. A
// function gives its filter by owner, and what it says of a connection.
//
// A page's cursor is "worker.family.slot": where the walk goes on. Pages are of a table that
// changes: every connection that is there all the time is listed once, unless an insert moved it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/control/commands.h"
#include "roost/control/connection_walk.h"
#include "roost/control/json.h"
#include "roost/control/view.h"
#include "roost/node/mailbox.h"

namespace roost::control {

// Of the command, beside a function's own: "action", which is one of "list count delete", and what
// it filters owners by.
inline constexpr std::array<Parameter, 6> kConnectionParameters = {
    {{.name = "client", .help = "only clients in this prefix: 192.0.2.0/24, or an address"},
     {.name = "state",
      .choices = "syn_sent syn_received established client_finished server_finished closed udp "
                 "echo other",
      .help = "only connections in this state"},
     {.name = "class",
      .choices = "unreplied seen_reply assured closed",
      .help = "only connections of this class; all but assured ones may be evicted"},
     {.name = "limit",
      .kind = ParameterKind::kNumber,
      .help = "at most so many a page, 8 to 1000 (100)"},
     {.name = "cursor", .help = "go on where the page before ended"},
     {.name = "all", .kind = ParameterKind::kFlag, .help = "with delete: without any filter"}}};

// A function's own parameters, and then those.
template <size_t kOwnCount>
[[nodiscard]] constexpr auto with_connection_parameters(
    const std::array<Parameter, kOwnCount>& own) {
  std::array<Parameter, kOwnCount + kConnectionParameters.size()> parameters{};
  std::ranges::copy(own, parameters.begin());
  std::ranges::copy(kConnectionParameters, parameters.begin() + kOwnCount);
  return parameters;
}

struct ConnectionSource {
  size_t worker_count = 0;
  // A walk over the connections of a worker.
  std::function<std::unique_ptr<ConnectionWalk>(size_t worker, const ConnectionWalk::Config&)> walk;
  // Worker i gets requests[i], if it is not null.
  std::function<std::optional<Error>(std::span<node::Request* const> requests)> ask;
  // Adds what the function calls a connection's ends and owner.
  std::function<void(const ConnectionRow&, Json& row)> describe;
  // Adds what it calls an owner, for counts.
  std::function<void(size_t family, uint32_t owner, Json& row)> describe_owner;
};

// Does what the parameters say with the connections of these owners. `is_filtered`: a parameter of
// the function's own left some of them out; without any filter, "delete" needs "all".
[[nodiscard]] Result<Json> run_connections(const Json& parameters,
                                           std::array<std::vector<bool>, 2> owners,
                                           bool is_filtered, const ConnectionSource& source);

// How to show its result, by these columns.
[[nodiscard]] Json connections_view(const Json& result, View::Columns columns,
                                    const View::Columns& count_columns);

}  // namespace roost::control

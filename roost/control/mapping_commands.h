// What the control shows of a NAT's mappings: pages of them, by filters.
//
// A page's cursor is "worker.place": where the walk goes on. A mapping that is there all the time
// is listed once.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "roost/base/result.h"
#include "roost/conntrack/mapped_ends.h"
#include "roost/control/commands.h"
#include "roost/control/json.h"
#include "roost/node/mailbox.h"

namespace roost::control {

inline constexpr std::array kMappingParameters = {
    Parameter{.name = "inside", .help = "only hosts in this prefix: 10.0.0.0/24, or an address"},
    Parameter{.name = "outside", .help = "only external addresses in this prefix"},
    Parameter{.name = "protocol", .choices = "tcp udp icmp", .help = "only those of this protocol"},
    Parameter{.name = "limit",
              .kind = ParameterKind::kNumber,
              .help = "at most so many a page, 1 to 1000 (100)"},
    Parameter{.name = "cursor", .help = "go on where the page before ended"}};

[[nodiscard]] Json mappings_view(const Json& result);

inline constexpr Command kMappingsCommand = {.name = "mappings",
                                             .help = "which inside endpoint has which external one",
                                             .parameters = kMappingParameters,
                                             .view = mappings_view};

// "tcp", "udp" or "icmp".
[[nodiscard]] std::string_view mapped_protocol_name(net::IpProtocol protocol);

// The command. `held`: of the workers, in their order; `ask`: worker i gets requests[i], if it is
// not null.
[[nodiscard]] Result<Json> run_mappings(
    const Json& parameters, std::span<const conntrack::Held* const> held,
    const std::function<std::optional<Error>(std::span<node::Request* const>)>& ask);

}  // namespace roost::control

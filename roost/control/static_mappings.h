// How a NAT's workers take other forwards: all of them or none.
//
// Each keeps the ports of new ones of its addresses, which one may have to refuse, because a
// mapping has such a port. Then all take them, and let go of those that are gone, which cannot
// fail; or all give the ports back.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/conntrack/mapped_ends.h"
#include "roost/node/mailbox.h"

namespace roost::control {

// Those of a worker at its start, when all ports are free.
void begin_static_mappings(std::span<const conntrack::StaticMapping> forwards, size_t worker,
                           conntrack::Held& held);

struct StaticExchange {
  std::span<const conntrack::StaticMapping> before{};
  std::span<const conntrack::StaticMapping> after{};
  std::span<const net::Ipv4Address> addresses{};  // external ones, of all workers
};
struct StaticOutcome {
  std::optional<Error> error{};
  std::optional<conntrack::StaticMapping> taken{};  // one whose port a mapping has
};
// `held`: of the workers, in their order. `function`: as messages name it.
[[nodiscard]] StaticOutcome exchange_static_mappings(node::WorkerMailboxes& mailboxes,
                                                     std::span<conntrack::Held* const> held,
                                                     const StaticExchange& exchange,
                                                     std::string_view function);

}  // namespace roost::control

#include "apps/advise/advice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "roost/conntrack/connection.h"
#include "roost/conntrack/tables.h"
#include "roost/net/flow_key.h"

namespace roost::advise {
namespace {

template <class Address>
using Connections =
    conntrack::OwnTables::Timed<net::FlowKey<Address>, conntrack::Connection, NoEvictionCallback>;

}  // namespace

std::optional<uint32_t> Advice::cores_needed() const {
  if (!cost) return {};
  return static_cast<uint32_t>(
      std::max(1.0, std::ceil(workload.packets_per_second / cost->packets_per_second())));
}

std::string_view layout_name(bool is_ipv6) {
  const bool is_inline =
      is_ipv6 ? Connections<net::Ipv6Address>::kIsInline : Connections<net::Ipv4Address>::kIsInline;
  return is_inline ? "inline" : "split";
}

Result<Advice> advise(const Workload& workload, const TimeoutSeconds& timeouts,
                      std::optional<uint64_t> memory_there) {
  if (const auto error = refuse(workload)) return *error;
  auto sizing = size_tables(workload, timeouts);
  if (!sizing) return sizing.error();
  Advice advice{.workload = workload,
                .timeouts = timeouts,
                .sizing = sizing.value(),
                .memory_there = memory_there};
  auto cost = expected_cost(workload, advice.held_of_worker());
  if (cost) {
    advice.cost = std::move(cost).value();
  } else {
    advice.no_cost = cost.error().message;
  }
  return advice;
}

}  // namespace roost::advise

#include "apps/advise/workload.h"

#include <fmt/format.h>

#include <string_view>

#include "roost/config/workers_config.h"

namespace roost::advise {
namespace {

constexpr double kRateMax = 1e10;

std::optional<Error> refuse_share(std::string_view name, double share) {
  if (share >= 0 && share <= 1) return {};
  return Error{fmt::format("{}: {:g} is no share; give 0 to 1", name, share)};
}

}  // namespace

std::optional<Error> refuse(const Workload& workload) {
  if (workload.connections < 1 || workload.connections > kConnectionsMax)
    return Error{fmt::format("--connections: {} is out of range; give 1 to {}",
                             workload.connections, kConnectionsMax)};
  if (!(workload.packets_per_second > 0 && workload.packets_per_second <= kRateMax))
    return Error{
        fmt::format("--packets: {:g} a second is out of range; give more than 0, at most "
                    "{:g}",
                    workload.packets_per_second, kRateMax)};
  if (!(workload.new_per_second >= 0 && workload.new_per_second <= kRateMax))
    return Error{fmt::format("--new: {:g} a second is out of range; give 0 to {:g}",
                             workload.new_per_second, kRateMax)};
  if (workload.cores < 1 || workload.cores > config::kWorkersMax)
    return Error{fmt::format("--cores: {} is out of range; give 1 to {}", workload.cores,
                             config::kWorkersMax)};
  if (auto error = refuse_share("--udp", workload.udp_share)) return error;
  if (auto error = refuse_share("--silent", workload.silent_share)) return error;
  if (!workload.packets_each && workload.new_per_second > workload.packets_per_second)
    return Error{fmt::format(
        "--new and --packets contradict each other: {:g} connections that begin a second send {:g} "
        "packets or more, and {:g} are given",
        workload.new_per_second, workload.new_per_second, workload.packets_per_second)};
  return {};
}

}  // namespace roost::advise

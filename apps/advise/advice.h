// All that is advised for a workload, as the reports tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/advise/cost_model.h"
#include "apps/advise/sizing.h"
#include "apps/advise/timeouts.h"
#include "apps/advise/workload.h"
#include "roost/base/result.h"

namespace roost::advise {

struct Advice {
  Workload workload{};
  TimeoutSeconds timeouts{};
  Sizing sizing{};
  std::optional<Cost> cost{};
  std::string no_cost{};                   // why there is none
  std::optional<uint64_t> memory_there{};  // bytes

  [[nodiscard]] bool fits() const { return !memory_there || sizing.bytes <= *memory_there; }
  [[nodiscard]] uint64_t held_of_worker() const { return sizing.held / workload.cores; }
  // How many cores the packets need; nothing without a cost.
  [[nodiscard]] std::optional<uint32_t> cores_needed() const;
};

// `memory_there`: bytes that tables may take, if that is known. Errors: what refuse() and
// size_tables() refuse.
[[nodiscard]] Result<Advice> advise(const Workload& workload, const TimeoutSeconds& timeouts,
                                    std::optional<uint64_t> memory_there);

// The slots' entries, "inline" or "split", of a family's tables; see docs/decisions/0008.
[[nodiscard]] std::string_view layout_name(bool is_ipv6);

// Where the lab found what the advice says beside its figures.
inline constexpr std::string_view kSharingRecord =
    "lab/record/2021-conntrack-20261126T1933Z-f3ae1db682.csv: sharing";
inline constexpr std::string_view kExpiryRecord =
    "lab/record/2021-conntrack-20261126T1933Z-f3ae1db682.csv: fig5";

}  // namespace roost::advise

// A function's commands under /roost/ in DPDK's telemetry: those that only show, with the same
// results. A telemetry reply is one dictionary of 256 entries, so a result becomes entries named by
// their paths ("services/0/backends/1/flows"), in pages: "/roost/services,1" is the second one, and
// an entry `next_page` says that there are more.
#pragma once

#include <vector>

#include "roost/control/control.h"
#include "roost/io/telemetry.h"

namespace roost::control {

// They answer as long as they live; `control` must outlive them.
[[nodiscard]] std::vector<io::TelemetryCommand> add_telemetry(Control& control);

}  // namespace roost::control

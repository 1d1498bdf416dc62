// Every contestant, by name.
#pragma once

#include <string_view>
#include <vector>

#include "lab/harness/any_table.h"

namespace roost::lab {

// Ours by each policy and interface, the published forwarding table, those in DPDK's memory, the
// maps and the oracles: each list is compiled on its own. A new contestant is one line in one of
// them.
[[nodiscard]] std::vector<ContestantEntry> roost_line_up();
[[nodiscard]] std::vector<ContestantEntry> cuckoo_switch_line_up();
[[nodiscard]] std::vector<ContestantEntry> dpdk_line_up();
[[nodiscard]] std::vector<ContestantEntry> map_line_up();
[[nodiscard]] std::vector<ContestantEntry> oracle_line_up();

// Nothing if there is none of this name.
[[nodiscard]] const ContestantEntry* find_contestant(std::string_view name);

// All names, in the lists' order.
[[nodiscard]] std::vector<std::string_view> contestant_names();

}  // namespace roost::lab

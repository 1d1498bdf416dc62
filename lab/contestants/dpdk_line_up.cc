// The tables in DPDK's memory.
#include "lab/contestants/line_up.h"
#include "lab/contestants/rte_hash.h"
#include "lab/contestants/rte_hash_records.h"

namespace roost::lab {

std::vector<ContestantEntry> dpdk_line_up() {
  return {contestant<RteHash>(), contestant<RteHashMac>(), contestant<RteHashRecords>()};
}

}  // namespace roost::lab

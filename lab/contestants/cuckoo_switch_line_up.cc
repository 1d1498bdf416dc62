// The published forwarding table, rung by rung.
#include "lab/contestants/cuckoo_switch.h"
#include "lab/contestants/line_up.h"

namespace roost::lab {

std::vector<ContestantEntry> cuckoo_switch_line_up() {
  return {contestant<CuckooSwitch<BaselineRung>>(), contestant<CuckooSwitch<PagesRung>>(),
          contestant<CuckooSwitch<OrderRung>>(), contestant<CuckooSwitch<BatchRung>>(),
          contestant<CuckooSwitch<PublishedRung>>()};
}

}  // namespace roost::lab

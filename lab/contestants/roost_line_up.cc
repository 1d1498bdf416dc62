// Our tables: every policy, and the C interface.
#include "lab/contestants/line_up.h"
#include "lab/contestants/roost_c_table.h"
#include "lab/contestants/roost_flow_table.h"

namespace roost::lab {

std::vector<ContestantEntry> roost_line_up() {
  return {
      contestant<RoostFlowTable>(),
      contestant<RoostTable<FilteredProbing, SlotTimers>>(),
      contestant<RoostTable<OptimisticProbing>>(),
      contestant<RoostTable<PessimisticProbing<>>>(),
      contestant<RoostTable<HortonProbing>>(),
      contestant<RoostTable<PessimisticProbing<1>>>(),
      contestant<RoostTable<PessimisticProbing<2>>>(),
      contestant<RoostTable<PessimisticProbing<4>>>(),
      contestant<RoostCTable>(),
  };
}

}  // namespace roost::lab

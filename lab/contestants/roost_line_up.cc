// Our tables: every policy, layout and kernel, and the C interface.
#include "lab/contestants/line_up.h"
#include "lab/contestants/roost_c_table.h"
#include "lab/contestants/roost_flow_table.h"
#include "lab/contestants/roost_shared_table.h"

namespace roost::lab {

namespace {

// Our table on a kernel of our choice, be it the best one or not.
ContestantEntry on_kernel(std::string_view name, Isa isa) {
  return {
      .name = name,
      .create = [isa](uint64_t slots,
                      PageKind pages) { return any(RoostFlowTable::create(slots, pages, isa)); },
      .counted = {}};
}

}  // namespace

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
      contestant<RoostInline2<>>(),
      contestant<RoostInline3<>>(),
      contestant<RoostInline2<SlotTimers>>(),
      contestant<RoostInline3<SlotTimers>>(),
      contestant<RoostPacked>(),
      contestant<RoostPackedShared>(),
      contestant<RoostFlowTableShared>(),
      contestant<RoostInline2Shared>(),
      contestant<RoostCTable>(),
      on_kernel("roost_flow_table_scalar", Isa::kScalar),
      on_kernel("roost_flow_table_sse42", Isa::kSse42),
      on_kernel("roost_flow_table_avx2", Isa::kAvx2),
  };
}

}  // namespace roost::lab

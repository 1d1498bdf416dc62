// Packed tables.
#include "capi/sized_table.h"

namespace roost::capi {
TableClass packed_table_class() { return class_of_layout<PackedLayout<SizedPackedEntry>>(); }
}  // namespace roost::capi

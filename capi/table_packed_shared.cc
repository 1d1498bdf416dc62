// Packed tables that readers share with their writer.
#include "capi/sized_table.h"
#include "roost/concurrent/one_writer.h"

namespace roost::capi {
TableClass shared_packed_table_class() {
  return class_of_layout<PackedLayout<SizedPackedEntry, OneWriterManyReaders>>();
}
}  // namespace roost::capi

// Inline tables with padded keys of 16 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass inline_table_class<16, 2>();
template TableClass inline_table_class<16, 3>();
}  // namespace roost::capi

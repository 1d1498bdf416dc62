// Inline tables with padded keys of 8 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass inline_table_class<8, 2>();
template TableClass inline_table_class<8, 3>();
}  // namespace roost::capi

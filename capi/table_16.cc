// Tables with padded keys of 16 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass table_class<16>();
}  // namespace roost::capi

// Tables with padded keys of 64 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass table_class<64>();
}  // namespace roost::capi

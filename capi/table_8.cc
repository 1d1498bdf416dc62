// Tables with padded keys of 8 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass table_class<8>();
}  // namespace roost::capi

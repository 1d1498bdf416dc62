// Tables with padded keys of 32 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass table_class<32>();
}  // namespace roost::capi

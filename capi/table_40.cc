// Tables with padded keys of 40 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass table_class<40>();
}  // namespace roost::capi

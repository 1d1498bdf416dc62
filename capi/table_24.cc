// Tables with padded keys of 24 bytes.
#include "capi/sized_table.h"

namespace roost::capi {
template TableClass table_class<24>();
}  // namespace roost::capi

// Line maps with padded keys of 32 bytes.
#include "capi/sized_map.h"
#include "roost/compact/line_map_builder_impl.h"

namespace roost::capi {
template MapClass line_map_class<32>();
}  // namespace roost::capi

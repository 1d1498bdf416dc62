// Line maps with padded keys of 8 bytes.
#include "capi/sized_map.h"
#include "roost/compact/line_map_builder_impl.h"

namespace roost::capi {
template MapClass line_map_class<8>();
}  // namespace roost::capi

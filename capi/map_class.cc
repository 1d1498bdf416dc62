#include "capi/map_class.h"

#include "roost/base/assert.h"

namespace roost::capi {

MapClass map_class_of(compact::ImageKind kind, size_t key_bytes) {
  if (kind == compact::ImageKind::kParrot) return parrot_class();
  ROOST_ASSERT(key_bytes >= 1 && key_bytes <= 64);
  switch ((key_bytes + 7) / 8) {
    case 1:
      return line_map_class<8>();
    case 2:
      return line_map_class<16>();
    case 3:
      return line_map_class<24>();
    case 4:
      return line_map_class<32>();
    case 5:
      return line_map_class<40>();
    case 6:
      return line_map_class<48>();
    case 7:
      return line_map_class<56>();
    default:
      return line_map_class<64>();
  }
}

}  // namespace roost::capi

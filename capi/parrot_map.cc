// Parrot tables.
#include "capi/sized_map.h"

namespace roost::capi {
MapClass parrot_class() { return class_of_map<ParrotKeys>(); }
}  // namespace roost::capi

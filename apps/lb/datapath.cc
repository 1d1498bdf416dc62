#include "apps/lb/datapath_impl.h"

namespace roost::lb {

template class BasicDatapath<OwnTables>;

}  // namespace roost::lb

#include "apps/lb/datapath/datapath_impl.h"

namespace roost::lb {

template class BasicDatapath<conntrack::OwnTables>;

}  // namespace roost::lb

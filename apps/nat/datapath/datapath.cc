#include "apps/nat/datapath/datapath_impl.h"

namespace roost::nat {

template class BasicDatapath<conntrack::OwnTables>;

}  // namespace roost::nat

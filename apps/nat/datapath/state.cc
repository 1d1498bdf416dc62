#include "apps/nat/datapath/state_impl.h"

namespace roost::conntrack {

template class ConnectionTable<MappedEnds>;

}  // namespace roost::conntrack

namespace roost::nat {

template class BasicState<conntrack::OwnTables>;

}  // namespace roost::nat

#include "apps/nat/datapath/datapath_impl.h"
#include "apps/nat/datapath/state_impl.h"
#include "apps/nat/datapath/translator_impl.h"

namespace roost {

template class conntrack::ConnectionTable<conntrack::MappedEnds>;
template class nat::BasicState<conntrack::OwnTables>;
template class nat::BasicTranslator<conntrack::OwnTables>;
template class nat::BasicDatapath<conntrack::OwnTables>;

}  // namespace roost

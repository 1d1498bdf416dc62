#include "lab/functions/record_nat.h"

#include "apps/nat/datapath/datapath_impl.h"
#include "apps/nat/datapath/state_impl.h"
#include "apps/nat/datapath/translator_impl.h"

namespace roost::conntrack {

template class ConnectionTable<MappedEnds, lab::RecordTables>;

}  // namespace roost::conntrack

namespace roost::nat {

template class BasicState<lab::RecordTables>;
template class BasicTranslator<lab::RecordTables>;
template class BasicDatapath<lab::RecordTables>;

}  // namespace roost::nat

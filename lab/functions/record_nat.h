// The NAT on records beside any table, compiled once.
#pragma once

#include "apps/nat/datapath/datapath.h"
#include "lab/store/stores.h"

namespace roost::conntrack {

extern template class ConnectionTable<MappedEnds, lab::RecordTables>;

}  // namespace roost::conntrack

namespace roost::nat {

extern template class BasicState<lab::RecordTables>;
extern template class BasicTranslator<lab::RecordTables>;
extern template class BasicDatapath<lab::RecordTables>;

}  // namespace roost::nat

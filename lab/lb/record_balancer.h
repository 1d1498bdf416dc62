// The load balancer on records beside any table, compiled once.
#pragma once

#include "lab/lb/balancer.h"
#include "lab/store/stores.h"

namespace roost::conntrack {

extern template class ConnectionTable<lb::BackendReplies<net::Ipv4Address>, lab::RecordTables>;
extern template class ConnectionTable<lb::BackendReplies<net::Ipv6Address>, lab::RecordTables>;

}  // namespace roost::conntrack

namespace roost::lb {

extern template class Family<net::Ipv4Address, lab::RecordTables>;
extern template class Family<net::Ipv6Address, lab::RecordTables>;
extern template class BasicState<lab::RecordTables>;
extern template class FamilyPath<net::Ipv4Address, lab::RecordTables>;
extern template class FamilyPath<net::Ipv6Address, lab::RecordTables>;
extern template class BasicDatapath<lab::RecordTables>;

}  // namespace roost::lb

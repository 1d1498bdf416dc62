#include "lab/lb/record_balancer.h"

namespace roost::conntrack {

template class ConnectionTable<lb::BackendReplies<net::Ipv4Address>, lab::RecordTables>;
template class ConnectionTable<lb::BackendReplies<net::Ipv6Address>, lab::RecordTables>;

}  // namespace roost::conntrack

namespace roost::lb {

template class Family<net::Ipv4Address, lab::RecordTables>;
template class Family<net::Ipv6Address, lab::RecordTables>;
template class BasicState<lab::RecordTables>;
template class FamilyPath<net::Ipv4Address, lab::RecordTables>;
template class FamilyPath<net::Ipv6Address, lab::RecordTables>;
template class BasicDatapath<lab::RecordTables>;

}  // namespace roost::lb

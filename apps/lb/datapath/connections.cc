#include "apps/lb/datapath/connections.h"

#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/fragment_table_impl.h"

namespace roost::conntrack {

template class ConnectionTable<lb::BackendReplies<net::Ipv4Address>>;
template class ConnectionTable<lb::BackendReplies<net::Ipv6Address>>;
template class FragmentTable<net::Ipv4Address>;
template class FragmentTable<net::Ipv6Address>;

}  // namespace roost::conntrack

#include "apps/lb/connection_table_impl.h"

namespace roost::lb {

// 104-bit keys stand in the buckets' lines, so that an IPv4 packet of a client costs one of them.
static_assert(OwnTables::Timed<net::FlowKey4, Connection, NoSink>::kSlots == 2);
static_assert(OwnTables::Plain<net::FlowKey4, uint32_t>::kSlots == 3);

template class ConnectionTable<net::Ipv4Address>;
template class ConnectionTable<net::Ipv6Address>;

}  // namespace roost::lb

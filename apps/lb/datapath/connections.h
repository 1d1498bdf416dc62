// The balancer's connections: conntrack's, and the rule by which a backend's packets find theirs.
//
// What a backend sends comes from its own end. Where the client is seen (`nat`), it goes to the
// client, and names the backend; in `fullnat` it goes to a port that is bound to the connection. In
// direct server return it goes past us.
#pragma once

#include <cstdint>

#include "apps/lb/datapath/service_table.h"
#include "roost/conntrack/connection_table.h"
#include "roost/conntrack/fragment_table.h"
#include "roost/conntrack/reply_rule.h"
#include "roost/conntrack/tables.h"

namespace roost::lb {

using conntrack::Connection;
using conntrack::ConnectionState;
using conntrack::FlowClass;
using conntrack::FlowCounts;
using conntrack::kFlowCounters;
using conntrack::kFlowsCreated;
using conntrack::kFlowsOver;
using conntrack::Sender;
using conntrack::StateTimeouts;

// The owner of a connection is its backend, and so is that of a reply.
template <class AddressType>
class BackendReplies {
 public:
  using Address = AddressType;
  using Key = net::FlowKey<Address>;
  using Endpoint = net::Endpoint<Address>;

  // The services must outlive this object and stay where they are.
  explicit BackendReplies(ServiceTable<Address>& services) : services_(&services) {}

  [[nodiscard]] conntrack::Replies replies_of(const Connection& connection) const {
    const Mode mode = services_->backend(connection.owner).mode;
    if (is_dsr(mode)) return conntrack::Replies::kUnseen;
    return mode == Mode::kFullnat ? conntrack::Replies::kToBoundPort
                                  : conntrack::Replies::kToClient;
  }
  // IPv4 backends of an IPv6 service are addressed from addresses of their own family.
  [[nodiscard]] size_t pool_of(const Connection& connection) const {
    return services_->backend(connection.owner).is_ipv4 ? 1 : 0;
  }
  [[nodiscard]] Endpoint server_of(const Key& key, const Connection& connection) const {
    return services_->backend(connection.owner).end_for(key.destination_port);
  }
  [[nodiscard]] uint32_t owner_of(const Connection& connection) const { return connection.owner; }
  [[nodiscard]] Endpoint destination_of(const Key& key, uint32_t backend) const {
    return services_->backend(backend).virtual_end_for(key.source_port);
  }
  [[nodiscard]] uint64_t next_turn(const Connection& connection) {
    return services_->backend(connection.owner).local_port_turn++;
  }
  [[nodiscard]] const StateTimeouts& timeouts_of(const Connection& connection) const {
    return services_->timeouts_of(services_->backend(connection.owner));
  }
  void over(const Connection& connection) {
    ++services_->backend(connection.owner).counters.flows_over;
  }

 private:
  ServiceTable<Address>* services_;
};

// The definitions are in roost/conntrack/connection_table_impl.h.
template <class Address, class Tables = conntrack::OwnTables>
using ConnectionTable = conntrack::ConnectionTable<BackendReplies<Address>, Tables>;

}  // namespace roost::lb

namespace roost::conntrack {

extern template class ConnectionTable<lb::BackendReplies<net::Ipv4Address>>;
extern template class ConnectionTable<lb::BackendReplies<net::Ipv6Address>>;
extern template class FragmentTable<net::Ipv4Address>;
extern template class FragmentTable<net::Ipv6Address>;

}  // namespace roost::conntrack

#include "apps/firewall/control/requests.h"

#include "roost/acl/rule_masks.h"
#include "roost/conntrack/connection_table_impl.h"

namespace roost::firewall {

// False at the family's end.
template <class Address>
bool RecheckRequest::walk() {
  return state_.family<Address>().connections().walk(
      cursor_, kBucketsOfStep,
      [&](const net::FlowKey<Address>& key, const conntrack::Connection& connection) {
        const auto in_port = static_cast<uint16_t>(connection.owner);
        const classify::PacketFields fields =
            acl::fields_of(key, in_port, state_.out_port_of(key.destination, in_port));
        uint32_t place = 0;
        state_.rules().find(std::span(&fields, 1), std::span(&place, 1));
        const bool ends = state_.rules().action(place) != acl::Action::kAllow;
        if (ends) ++ended;
        return ends;
      });
}

bool RecheckRequest::step() {
  const bool goes_on = family_ == 0 ? walk<net::Ipv4Address>() : walk<net::Ipv6Address>();
  if (goes_on) return false;
  cursor_ = {};
  return ++family_ == 2;
}

}  // namespace roost::firewall

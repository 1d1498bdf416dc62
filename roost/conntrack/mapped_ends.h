// A NAT's connections: between an inside endpoint and a remote one, each of which holds the
// mapping that it goes through.
//
// Its key has the inside end as it is and the remote end as the inside sees it. So what comes from
// outside is looked up once its destination is exchanged for the inside end, and there are no
// entries for replies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/conntrack/connection.h"
#include "roost/conntrack/external_addresses.h"
#include "roost/conntrack/port_mappings.h"
#include "roost/conntrack/reply_rule.h"
#include "roost/net/flow_key.h"
#include "roost/table/flow_table.h"

namespace roost::conntrack {

// Connection::owner: where its first packet came from. Its client is there.
enum Side : uint16_t { kInside, kOutside };

// How many connections an inside endpoint has with each remote address: what filtering by address
// asks. One worker's.
class PeerCounts {
 public:
  using Key = net::FlowKey4;  // remote address, inside endpoint, protocol

  // `peers_max`: 0 if nobody asks.
  static Result<PeerCounts> create(uint64_t peers_max, std::optional<uint64_t> hash_seed) {
    auto table = FlowTable<Key, uint32_t>::create(
        {.entries_max = std::max<uint64_t>(16, peers_max), .hash_seed = hash_seed});
    if (!table) return table.error();
    return PeerCounts(std::move(table).value(), peers_max != 0);
  }

  static Key key_of(net::IpProtocol protocol, const net::Endpoint4& inside,
                    const net::Ipv4Address& remote) {
    return {.source = remote,
            .destination = inside.address,
            .destination_port = inside.port,
            .protocol = protocol};
  }
  [[nodiscard]] bool has(const Key& key) { return table_.find(key) != nullptr; }
  void add(const Key& key) {
    if (!is_used_) return;
    if (uint32_t* const count = table_.find(key)) {
      ++*count;
    } else {
      // Connections are as many, so it is promised.
      const InsertOutcome outcome = table_.insert(key, 1);
      ROOST_ASSERT(outcome != InsertOutcome::kFull);
    }
  }
  void remove(const Key& key) {
    if (!is_used_) return;
    uint32_t* const count = table_.find(key);
    ROOST_ASSERT(count != nullptr);
    if (--*count == 0) table_.erase(key);
  }
  [[nodiscard]] uint64_t memory_bytes() const { return table_.memory_bytes(); }

 private:
  PeerCounts(FlowTable<Key, uint32_t> table, bool is_used)
      : table_(std::move(table)), is_used_(is_used) {}

  FlowTable<Key, uint32_t> table_;
  bool is_used_;
};

// What connections hold; it stays where it is.
struct Held {
  ExternalAddresses external;
  PortMappings mappings;
  PeerCounts peers;

  [[nodiscard]] net::Endpoint4 end_of(BoundPort bound) const {
    return {external[bound.address], bound.port};
  }
};

class MappedEnds : public SameEnds<net::Ipv4Address> {
 public:
  explicit MappedEnds(Held& held) : held_(&held) {}

  void removed(const net::FlowKey4& key, const Connection& connection) const {
    const net::FlowKey4 outwards = connection.owner == kInside ? key : key.reversed();
    held_->peers.remove(PeerCounts::key_of(key.protocol, {outwards.source, outwards.source_port},
                                           outwards.destination));
    held_->mappings.release(key.protocol, connection.bound);
  }
  [[nodiscard]] net::Endpoint4 bound_end(const Connection& connection) const {
    return held_->end_of(connection.bound);
  }

 private:
  Held* held_;
};

}  // namespace roost::conntrack

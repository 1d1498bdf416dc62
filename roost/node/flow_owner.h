// Which worker a flow belongs to: by a hash of its client's address.
//
// Both directions of a translated flow meet on one worker that way: towards a virtual address the
// client is the packet's source, on the way back its destination, and translation leaves it alone.
// A symmetric hash of both ends, as network cards offer it, cannot do that: the other end is the
// virtual address one way and the backend the other.
//
// The address alone, because fragments but the first have no ports, and must meet the flow that
// they are of. The price: what one address sends is one worker's, be it a network behind one
// translated address or a proxy.
//
// The choice is one that network cards can make: where a card hashes one address alone, with this
// key, each worker receives what it owns; elsewhere packets are handed off. The key is secret, so
// that an attacker cannot find addresses that one worker owns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/base/assert.h"
#include "roost/hash/keyed_hash.h"
#include "roost/net/rss.h"

namespace roost::node {

// The same seed gives the same key on every machine.
[[nodiscard]] inline net::RssKey rss_key(uint64_t seed) {
  net::RssKey key;
  const KeyedHash hash(seed);
  for (uint64_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<uint8_t>(hash.hash<sizeof i>(&i).bits);
  }
  return key;
}

// Immutable; each worker has one, all with the same seed and count.
class FlowOwner {
 public:
  struct Config {
    size_t worker_count = 1;
    size_t worker = 0;  // the caller's
    uint64_t seed = 0;  // of the key, the same for all workers of a run
  };

  explicit FlowOwner(const Config& config) : config_(config), hash_(rss_key(config.seed)) {
    ROOST_ASSERT(config.worker < config.worker_count);
  }

  // Whether flows can be another worker's at all.
  [[nodiscard]] bool is_shared() const { return config_.worker_count > 1; }
  [[nodiscard]] size_t worker() const { return config_.worker; }
  [[nodiscard]] size_t worker_count() const { return config_.worker_count; }

  // The owner of all flows of this client. Constant time.
  template <class Address>
  [[nodiscard]] size_t owner_of(const Address& client) const {
    return net::rss_worker(hash_.hash(client.bytes), config_.worker_count);
  }

 private:
  Config config_;
  net::ToeplitzHash hash_;
};

}  // namespace roost::node

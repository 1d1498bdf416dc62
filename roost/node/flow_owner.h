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
// The hash is keyed, so that nobody who lacks the seed can find addresses that one worker owns, and
// it takes other bits than the flow tables do, whose seeds are others too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/hash/keyed_hash.h"

namespace roost::node {

// Immutable; each worker has one, all with the same seed and count.
class FlowOwner {
 public:
  struct Config {
    size_t worker_count = 1;
    size_t worker = 0;  // that asks
    uint64_t seed = 0;  // the same for all workers of a run
  };

  explicit FlowOwner(const Config& config) : config_(config), hash_(config.seed) {
    ROOST_ASSERT(config.worker < config.worker_count);
  }

  // Whether flows can be another worker's at all.
  [[nodiscard]] bool is_shared() const { return config_.worker_count > 1; }
  [[nodiscard]] size_t worker() const { return config_.worker; }
  [[nodiscard]] size_t worker_count() const { return config_.worker_count; }

  // The owner of all flows of this client. Constant time.
  template <class Address>
  [[nodiscard]] size_t owner_of(const Address& client) const {
    std::array<uint8_t, (sizeof(Address) + 7) / 8 * 8> bytes{};  // in whole words
    std::memcpy(bytes.data(), &client, sizeof client);
    const uint64_t hash = hash_.hash<bytes.size()>(bytes.data()).bits;
    return static_cast<size_t>(((hash >> 32) * config_.worker_count) >> 32);
  }

 private:
  Config config_;
  KeyedHash hash_;
};

}  // namespace roost::node

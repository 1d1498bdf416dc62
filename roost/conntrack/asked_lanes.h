// The packets of a batch whose connections are looked up together: each is asked for when it has
// been read, so that memory comes while those behind it are
// (docs/decisions/0027-ask-per-packet.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/hash/hash64.h"
#include "roost/net/flow_key.h"
#include "roost/net/packet_batch.h"
#include "roost/table/key_source.h"

namespace roost::conntrack {

// Lanes of one family, in their order.
template <class Address>
struct AskedLanes {
  using Key = net::FlowKey<Address>;

  size_t count = 0;
  std::array<uint8_t, net::kBatchLanesMax> lanes;
  std::array<Key, net::kBatchLanesMax> keys;
  std::array<Hash64, net::kBatchLanesMax> hashes;

  // Asks `connections`, a ConnectionTable, for the memory of the lane's.
  void push(size_t lane, const Key& key, const auto& connections) {
    lanes[count] = static_cast<uint8_t>(lane);
    keys[count] = key;
    hashes[count++] = connections.prefetch(key);
  }
  // For its find().
  [[nodiscard]] PrefetchedKeys<std::span<const Key>> to_find() const {
    return {std::span(keys).first(count), std::span(hashes).first(count)};
  }
};

}  // namespace roost::conntrack

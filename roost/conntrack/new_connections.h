// Connections that a batch begins together, and what becomes of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/conntrack/connection.h"
#include "roost/expiry/slot_timers.h"
#include "roost/hash/hash64.h"
#include "roost/net/packet_batch.h"
#include "roost/table/key_source.h"

namespace roost::conntrack {

enum class CreateOutcome : uint8_t {
  kCreated,
  kExisting,  // of several together: the tuple was there, or is an earlier one's
  kReplyTupleTaken,
  kNoPort,
  kFull
};

template <class Key>
struct NewConnections {
  static constexpr size_t kMax = net::kBatchLanesMax;

  size_t count = 0;
  std::array<Key, kMax> keys;  // their clients'
  std::array<Hash64, kMax> hashes;
  std::array<Hash64, kMax> reply_hashes;
  std::array<Connection, kMax> connections;
  std::array<TickCount, kMax> timeouts;
  std::array<CreateOutcome, kMax> outcomes;

  [[nodiscard]] PrefetchedKeys<std::span<const Key>> asked() const {
    return {std::span(keys).first(count), std::span(hashes).first(count)};
  }
};

}  // namespace roost::conntrack

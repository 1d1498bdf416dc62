// What clients and backends know of their connection: where it goes, and how far their streams are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "roost/base/result.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"
#include "roost/net/address.h"
#include "roost/traffic/draw.h"

namespace roost::trafficgen {

struct AddressAndPort {
  net::IpAddress address{};
  uint16_t port = 0;
};

struct alignas(64) ConnectionEnds {
  uint32_t flow = 0;
  // The streams' next sequence numbers.
  uint32_t client_next = 0;
  uint32_t backend_next = 0;
  // What the connection's packets were sent to when they arrived at a backend: a hash of address,
  // port and MAC, 0 before the first one.
  uint32_t backend = 0;
  uint32_t service = 0;  // of the configuration
  // As its backend sees it: its own end, and the one that it answers to.
  AddressAndPort own{};
  AddressAndPort peer{};

  [[nodiscard]] bool is_reached() const { return backend != 0; }
};
static_assert(sizeof(ConnectionEnds) == 64, "a cache line");

// By the place of a connection in its stream; a place is another connection's later.
class AllConnectionEnds {
 public:
  // For places below `count`. Memory for the first `expected` is taken now, for the others as they
  // are used. Errors: no memory.
  static Result<AllConnectionEnds> create(uint64_t count, uint64_t expected) {
    Result<Arena> memory = Arena::map(count * sizeof(ConnectionEnds));
    if (!memory) return memory.error();
    std::memset(memory.value().data(), 0, std::min(expected, count) * sizeof(ConnectionEnds));
    return AllConnectionEnds(std::move(memory).value());
  }

  // Of a connection that begins.
  ConnectionEnds& begin(uint32_t place, uint32_t flow, uint32_t service) {
    const uint64_t streams = traffic::mix(flow);
    at(place) = {.flow = flow,
                 .client_next = static_cast<uint32_t>(streams),
                 .backend_next = static_cast<uint32_t>(streams >> 32),
                 .service = service};
    return at(place);
  }
  [[nodiscard]] ConnectionEnds& at(uint32_t place) const {
    return reinterpret_cast<ConnectionEnds*>(memory_.data())[place];
  }
  [[gnu::always_inline]] void ask_for(uint32_t place) const {
    prefetch(PrefetchHint::kT0, &at(place));
  }
  // Nothing, if the place is another connection's by now.
  [[nodiscard]] ConnectionEnds* find(uint32_t place, uint32_t flow) const {
    return at(place).flow == flow ? &at(place) : nullptr;
  }

 private:
  explicit AllConnectionEnds(Arena memory) : memory_(std::move(memory)) {}

  Arena memory_;
};

}  // namespace roost::trafficgen

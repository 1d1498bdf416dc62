// A lookup on its way from a core to an accelerator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/mesh.h"

namespace roost::sim {

// Keys have at most so many bytes.
inline constexpr size_t kSimulatedKeyBytesMax = 64;
using KeyBytes = std::array<std::byte, kSimulatedKeyBytesMax>;

// The words that a lookup ends with (docs/decisions/0053).
inline constexpr uint64_t kPendingWord = 0;
inline constexpr uint64_t kNotFoundWord = 1;
inline constexpr uint64_t kRefusedWord = 3;  // an address was outside of the table
[[nodiscard]] constexpr uint64_t found_word(uint64_t payload) { return payload << 2 | 2; }
[[nodiscard]] constexpr bool is_found(uint64_t word) { return (word & 3) == 2; }
[[nodiscard]] constexpr uint64_t payload_of(uint64_t word) { return word >> 2; }

struct Query {
  Tile core = 0;
  bool is_blocking = false;  // the word goes to the core; else to memory
  bool has_key = false;      // the key is in the command
  bool has_hash = false;     // the hash too
  uint8_t key_bytes = 0;     // of the key in the command
  uint32_t waiter = 0;       // of a blocking one: which operation of the core waits
  uint64_t table = 0;
  uint64_t key_address = 0;
  uint64_t result_address = 0;
  uint64_t hash = 0;
  uint64_t bucket_line = 0;  // with the hash: the line of the primary bucket
  KeyBytes key{};
};

// What takes lookups from cores.
class QuerySink {
 public:
  // A query leaves its core at a cycle, now or later. The word of a blocking one comes to `core` by
  // an event of this kind, with the query's waiter as index and the word as argument.
  virtual void send(const Query& query, Cycle leaves, EventTarget* core, uint32_t kind) = 0;
  // Fills in the hash, if it is the core's to compute.
  virtual void add_hash(Query& query) = 0;

 protected:
  ~QuerySink() = default;
};

}  // namespace roost::sim

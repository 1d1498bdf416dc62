// The keys that a table is asked for, in their order: from a text file, bytes, or a capture.
//
//   text      a key a line, its bytes in hexadecimal as they lie in the table's memory, with `:`
//             between them or not; # begins a comment
//   binary    keys, one behind the other
//   capture   the flow key of each TCP or UDP packet (roost/net/flow_key.h): of IPv4 for keys of 13
//             and 16 bytes, of IPv6, with IPv4 mapped into it, for keys of 37 and 40
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "sim/query.h"

namespace roost::halo {

enum class TraceFormat : uint8_t { kText, kBinary, kCapture };

struct KeyTrace {
  std::vector<sim::KeyBytes> keys{};
  uint64_t without_key = 0;  // packets of a capture that have none
};

// Captures by how they begin; everything else is text.
[[nodiscard]] TraceFormat format_of(std::string_view beginning);

// Errors: it cannot be read, has no keys, or something that is no key of so many bytes, with its
// place.
[[nodiscard]] Result<KeyTrace> read_trace(const std::string& path, uint32_t key_bytes,
                                          std::optional<TraceFormat> format);

// A key's bytes as text files have them.
[[nodiscard]] std::string hex_of(const sim::KeyBytes& key, uint32_t key_bytes);

}  // namespace roost::halo

// The two numberings of a client's stream that has a PROXY header in front of it: the client's,
// and that of its backend, in which the header takes numbers too
// (docs/decisions/0037-proxy-protocol.md).
//
//   client    ... SYN | data ...
//                      start
//   backend   ... SYN | header | data ...
#pragma once

#include <cstdint>

namespace roost::lb {

// How far `sequence` is ahead of `other`; negative, behind it. Of numbers within 2^31.
[[nodiscard]] constexpr int32_t bytes_ahead(uint32_t sequence, uint32_t other) {
  return static_cast<int32_t>(sequence - other);
}

struct ProxyStream {
  uint32_t start = 0;  // the number of the client's first byte, until the backend has the header
  uint32_t header_bytes = 0;
  bool has_header = false;  // the backend has acknowledged all of it

  // The number that the client's `sequence` has for the backend. At `start` stands the header, for
  // as long as the backend does not have it.
  [[nodiscard]] constexpr uint32_t to_backend(uint32_t sequence) const {
    if (has_header || bytes_ahead(sequence, start) > 0) return sequence + header_bytes;
    return sequence;
  }

  // What the backend has up to `acknowledged`, in the client's numbers: nothing of a header.
  [[nodiscard]] constexpr uint32_t to_client(uint32_t acknowledged) const {
    if (has_header) return acknowledged - header_bytes;
    const int32_t ahead = bytes_ahead(acknowledged, start);
    if (ahead <= 0) return acknowledged;
    return ahead <= static_cast<int32_t>(header_bytes) ? start : acknowledged - header_bytes;
  }

  // Whether what a backend acknowledges says that it has the header.
  [[nodiscard]] constexpr bool shows_header(uint32_t acknowledged) const {
    return has_header || bytes_ahead(acknowledged, start) >= static_cast<int32_t>(header_bytes);
  }

  // Whether these numbers of the client lie across the start: a part of what they carry would stand
  // where the backend expects the header.
  [[nodiscard]] constexpr bool crosses_start(uint32_t sequence, uint32_t end) const {
    return !has_header && bytes_ahead(sequence, start) < 0 && bytes_ahead(end, start) > 0;
  }
};

}  // namespace roost::lb

// The frames of a capture file, by libpcap. Classic captures (microseconds, nanoseconds, either
// byte order) and pcapng are read; times are microseconds, as DPDK's net_pcap delivers them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "roost/base/result.h"

struct pcap;  // libpcap's, which users of this room do not see

namespace roost::capture {

struct Frame {
  std::span<const uint8_t> bytes{};  // captured
  uint32_t wire_bytes = 0;           // more than those if only the beginning was kept
  uint64_t timestamp_us = 0;
};

class Reader {
 public:
  // Refused: what libpcap cannot open, and any link type but Ethernet.
  static Result<Reader> open(const std::string& path);

  // The next frame, whose bytes hold until the next call; nothing at the end, or where the file is
  // cut.
  std::optional<Frame> next();

  // Why reading stopped before the file's end.
  [[nodiscard]] const std::optional<std::string>& cut_reason() const { return cut_reason_; }

 private:
  struct Close {
    void operator()(pcap* file) const;
  };

  explicit Reader(pcap* file) : file_(file) {}

  std::unique_ptr<pcap, Close> file_;
  std::optional<std::string> cut_reason_;
};

}  // namespace roost::capture

// A filter of frames in the language of tcpdump, as libpcap compiles and runs it: "host 192.0.2.10
// and tcp port 80". As there, packets under VLAN tags are found behind the word "vlan" only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "roost/base/result.h"

namespace roost::io {

class PacketFilter {
 public:
  // An empty expression admits everything. Refused, in libpcap's words: what it does not
  // understand.
  static Result<PacketFilter> compile(const std::string& expression);

  PacketFilter(PacketFilter&&) noexcept;
  PacketFilter& operator=(PacketFilter&&) noexcept;
  ~PacketFilter();

  // `frame`: what there is of it; `total_bytes`: how long it is as a whole. Any bytes at all. Any
  // thread; allocates nothing.
  [[nodiscard]] bool admits(std::span<const uint8_t> frame, uint32_t total_bytes) const;

 private:
  struct Program;
  explicit PacketFilter(std::unique_ptr<Program> program);

  std::unique_ptr<Program> program_;
};

}  // namespace roost::io

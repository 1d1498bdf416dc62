// What a watched worker saw of one packet: as it came, as it left, what became of it, and what the
// function's tables said of it before and after. A record without pointers, so that another thread
// may look at it later (docs/decisions/0012-trace-and-capture.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::trace {

inline constexpr uint32_t kTracedBytesMax = 2'048;  // kept of each form of a packet

// A name of the configuration that was in force, or its beginning.
class KeptText {
 public:
  void keep(std::string_view name) {
    bytes_ = static_cast<uint8_t>(std::min(name.size(), text_.size()));
    std::memcpy(text_.data(), name.data(), bytes_);
  }
  [[nodiscard]] std::string_view text() const { return {text_.data(), bytes_}; }

 private:
  uint8_t bytes_ = 0;
  std::array<char, 63> text_{};
};

// What a function's tables say of a packet: a value of the function's own type, kept as bytes. All
// zero at first.
class Note {
 public:
  template <class Value>
  void set(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof value <= kBytesMax);
    std::memcpy(bytes_.data(), &value, sizeof value);
  }
  template <class Value>
  [[nodiscard]] Value get() const {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= kBytesMax);
    Value value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    return value;
  }

 private:
  static constexpr size_t kBytesMax = 256;

  std::array<std::byte, kBytesMax> bytes_{};
};

// Whether a packet's addresses are where it was parsed to have them: all but ports and flags holds.
[[nodiscard]] constexpr bool has_addresses(net::ParseVerdict verdict) {
  return verdict == net::ParseVerdict::kOk || verdict == net::ParseVerdict::kFragment ||
         verdict == net::ParseVerdict::kUnsupportedProtocol;
}

struct PacketTrace {
  // A frame, or its beginning.
  struct Form {
    uint32_t total_bytes = 0;  // 0: there is none
    uint32_t kept_bytes = 0;
    std::array<uint8_t, kTracedBytesMax> bytes;

    [[nodiscard]] std::span<const uint8_t> kept() const { return {bytes.data(), kept_bytes}; }
    void keep(std::span<const uint8_t> frame, uint32_t frame_bytes) {
      total_bytes = frame_bytes;
      kept_bytes = static_cast<uint32_t>(std::min<size_t>(frame.size(), kTracedBytesMax));
      std::memcpy(bytes.data(), frame.data(), kept_bytes);
    }
  };

  uint64_t number = 0;         // of the packets that the worker saw while it was watched, from 1
  uint64_t missed_before = 0;  // traces that found no room since the one before
  uint64_t nanoseconds = 0;    // since 1970
  uint16_t worker = 0;
  bool is_own = false;  // made by the function: only `sent` and the verdict say something
  uint16_t in_port = 0;
  uint16_t answer_count = 0;  // frames that the function made because of this packet
  net::LaneVerdict verdict;
  uint8_t group_count = 0;  // if it leaves by several ports
  std::array<net::PortGroup, net::kPortGroupsMax> groups;
  Note before;
  Note after;
  Form received;
  Form sent;  // if it is forwarded or replicated: before the groups' tags

  [[nodiscard]] std::span<const net::PortGroup> port_groups() const {
    return std::span(groups).first(group_count);
  }
};

// What the ports of one of its groups sent.
[[nodiscard]] PacketTrace::Form sent_by(const PacketTrace& trace, const net::PortGroup& group);

}  // namespace roost::trace

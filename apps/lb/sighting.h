// What a watched worker saw of one packet: as it came, as it left, what became of it, and what the
// tables said of its flow before and after. A record without pointers, so that another thread may
// look at it later (docs/decisions/0012-trace-and-capture.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "apps/lb/connection_state.h"
#include "roost/net/packet_batch.h"

namespace roost::lb {

inline constexpr uint32_t kSightedBytesMax = 2'048;  // kept of each form of a packet

// A name of the configuration that was in force, or its beginning.
class SightedName {
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

struct Sighting {
  // A frame, or its beginning.
  struct Form {
    uint32_t total_bytes = 0;  // 0: there is none
    uint32_t kept_bytes = 0;
    std::array<uint8_t, kSightedBytesMax> bytes;

    [[nodiscard]] std::span<const uint8_t> kept() const { return {bytes.data(), kept_bytes}; }
    void keep(std::span<const uint8_t> frame, uint32_t frame_bytes) {
      total_bytes = frame_bytes;
      kept_bytes = static_cast<uint32_t>(std::min<size_t>(frame.size(), kSightedBytesMax));
      std::memcpy(bytes.data(), frame.data(), kept_bytes);
    }
  };

  // The live connection of a packet's tuple, if there is one.
  struct Flow {
    bool is_known = false;
    bool is_from_client = false;
    ConnectionState state = ConnectionState::kUdp;
    uint32_t backend = 0;  // its slot
    SightedName service{};
    SightedName backend_name{};
  };

  uint64_t number = 0;         // of the packets that the worker saw while it was watched, from 1
  uint64_t missed_before = 0;  // sightings that found no room since the one before
  uint64_t nanoseconds = 0;    // since 1970
  uint16_t worker = 0;
  bool is_own = false;      // made by the balancer: only `sent` and the verdict say something
  bool is_service = false;  // the packet is for a service's virtual address
  SightedName service{};    // that one
  uint16_t in_port = 0;
  uint16_t answer_count = 0;  // frames that the balancer made because of this packet
  net::LaneVerdict verdict;
  Flow before;
  Flow after;
  Form received;
  Form sent;  // if the verdict is to forward it
};

// The sighting as a few lines for people, the last one without its newline.
[[nodiscard]] std::string words_of(const Sighting& sighting);

}  // namespace roost::lb

// What a SYN shows of the system that sent it, in the words of prads 0.3.3, which are those of p0f
// 2:
//
//   S44:64:1:60:M1460,S,T,N,W10:.
//   │   │  │ │  │               quirks; "." for none
//   │   │  │ │  options in their order: MSS, SACK permitted, timestamp, padding, window scale
//   │   │  │ bytes of the IP packet, of IPv6 of its payload
//   │   │  don't fragment; of IPv6 always
//   │   time to live
//   window: S times the MSS, T times the MTU, or the number
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::assets {

// Bits of SynFingerprint::quirks, in the order of their letters.
enum class Quirk : uint16_t {
  kEqualNumbers = 1 << 0,     // Q: sequence and acknowledgement numbers are the same
  kZeroSequence = 1 << 1,     // 0
  kPastEnd = 1 << 2,          // P: more follows the end of the options
  kZeroId = 1 << 3,           // Z: IPv4's identification, or IPv6's flow label
  kIpOptions = 1 << 4,        // I
  kUrgent = 1 << 5,           // U: a pointer
  kReserved = 1 << 6,         // X: bits behind the data offset
  kAcknowledgement = 1 << 7,  // A: a number, though there is no ACK
  kSecondTimestamp = 1 << 8,  // T: an echo reply
  kFlags = 1 << 9,            // F: FIN, PSH or URG
  kData = 1 << 10,            // D
  kFlowLabel = 1 << 11,       // L: IPv6 has one
  kBrokenOptions = 1 << 12,   // !
};

struct SynFingerprint {
  static constexpr size_t kOptionsMax = 15;  // of prads: with as many, the rest is "broken"

  uint16_t window = 0;
  uint16_t size = 0;
  uint16_t mss = 0;
  uint16_t quirks = 0;
  uint8_t ttl = 0;
  uint8_t window_scale = 0;
  bool may_not_be_cut = false;
  bool has_timestamp = false;  // the last one was not zero
  uint8_t option_count = 0;
  std::array<uint8_t, kOptionsMax> options{};  // their kinds

  [[nodiscard]] std::string format() const;
  bool operator==(const SynFingerprint&) const = default;
};

// Of a TCP packet that parsed as kOk, or as the first fragment of a datagram.
[[nodiscard]] SynFingerprint read_syn(const net::Packet& packet, const net::ParsedPacket& parsed);

}  // namespace roost::assets

// Frames that Scapy made: ARP, neighbour discovery and echo between a client (02:00:00:00:01:10,
// 192.0.2.10, 2001:db8:1::10) and a port (02:00:00:00:00:01, 192.0.2.1, 2001:db8:1::1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "tests/net/random_frame.h"

namespace roost::net {

inline Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Ether/ARP who-has 192.0.2.1 tell 192.0.2.10.
inline const Bytes kArpRequest = from_hex(
    "ffffffffffff02000000011008060001080006040001020000000110c000020a000000000000c0000201");
// Ether/Dot1Q(7)/ARP 192.0.2.1 is-at 02:00:00:00:00:01.
inline const Bytes kArpReply = from_hex(
    "0200000001100200000000018100000708060001080006040002020000000001c0000201020000000110c000020a");
// A solicitation for 2001:db8:1::1 with its source's MAC, one that asks whether the address is
// free, and an advertisement with R, S and O.
inline const Bytes kSolicitation = from_hex(
    "3333ff00000102000000011086dd6000000000203aff20010db8000100000000000000000010ff02000000000000"
    "00000001ff00000187001b090000000020010db80001000000000000000000010101020000000110");
inline const Bytes kDuplicateCheck = from_hex(
    "3333ff00000102000000011086dd6000000000183aff00000000000000000000000000000000ff02000000000000"
    "00000001ff00000187004cec0000000020010db8000100000000000000000001");
inline const Bytes kAdvertisement = from_hex(
    "02000000011002000000000186dd6000000000203aff20010db800010000000000000000000120010db800010000"
    "000000000000001088000a62e000000020010db80001000000000000000000010201020000000001");
// Echo requests of 7 bytes with 33 hops left, and their replies with 64.
inline const Bytes kEcho4 = from_hex(
    "02000000000102000000011008004500002300010000210115cec000020ac0000201080080ab004d0003"
    "726f6f73742121");
inline const Bytes kEchoReply4 = from_hex(
    "020000000110020000000001080045000023000100004001f6cdc0000201c000020a000088ab004d0003"
    "726f6f73742121");
inline const Bytes kEcho6 = from_hex(
    "02000000000102000000011086dd60000000000f3a2120010db800010000000000000000001020010db800010000"
    "00000000000000018000acdc004d0003726f6f73742121");
inline const Bytes kEchoReply6 = from_hex(
    "02000000011002000000000186dd60000000000f3a4020010db800010000000000000000000120010db800010000"
    "00000000000000108100abdc004d0003726f6f73742121");

// Queries of multicast listener discovery, from fe80::10: for all groups by version 1 and 2, with
// 10 seconds for the answer, and for ff02::1:ff00:1 by version 1, with one.
inline const Bytes kQuery1 = from_hex(
    "33330000000102000000011086dd6000000000200001fe800000000000000000000000000010ff02000000000000"
    "00000000000000013a00050200000100820059082710000000000000000000000000000000000000");
inline const Bytes kQuery2 = from_hex(
    "33330000000102000000011086dd6000000000240001fe800000000000000000000000000010ff02000000000000"
    "00000000000000013a00050200000100820056872710000000000000000000000000000000000000027d0000");
inline const Bytes kGroupQuery = from_hex(
    "3333ff00000102000000011086dd6000000000200001fe800000000000000000000000000010ff02000000000000"
    "00000001ff0000013a0005020000010082007f2803e80000ff0200000000000000000001ff000001");
// Reports from fe80::ff:fe00:1: by version 2 that ff02::1:ff00:1 was joined and ff02::1:ff00:80
// left, by version 1 that the first is listened to, and that it was left.
inline const Bytes kReport2 = from_hex(
    "33330000001602000000000186dd6000000000380001fe80000000000000000000fffe000001ff02000000000000"
    "00000000000000163a000502000001008f00706d0000000204000000ff0200000000000000000001ff0000010300"
    "0000ff0200000000000000000001ff000080");
inline const Bytes kReport1 = from_hex(
    "3333ff00000102000000000186dd6000000000200001fe80000000000000000000fffe000001ff02000000000000"
    "00000001ff0000013a000502000001008300831f00000000ff0200000000000000000001ff000001");
inline const Bytes kDone1 = from_hex(
    "33330000000202000000000186dd6000000000200001fe80000000000000000000fffe000001ff02000000000000"
    "00000000000000023a000502000001008400812000000000ff0200000000000000000001ff000001");

constexpr size_t kHopByHopAt = 54;       // of the above
constexpr size_t kListenerIcmp6At = 62;  // likewise

constexpr size_t kIcmp6At = 54;  // in an untagged frame

// Makes the ICMPv6 checksum of an untagged frame right, whose message begins at `at`.
inline void mend_checksum(Bytes& frame, size_t at = kIcmp6At) {
  frame[at + 2] = frame[at + 3] = 0;
  const std::span<const uint8_t> all(frame);
  const uint64_t sum = pseudo_header_sum(all.subspan(22, 16), all.subspan(38, 16), IpProtocol{58},
                                         static_cast<uint32_t>(frame.size() - at)) +
                       sum_words(all.subspan(at));
  store_be16(&frame[at + 2], checksum_of(sum));
}

}  // namespace roost::net

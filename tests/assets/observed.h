// Frames shown to an observer, one at a time, through the datapath.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/assets/datapath/datapath.h"
#include "roost/net/arp.h"
#include "roost/net/byte_order.h"
#include "tests/lb/test_packet.h"

namespace roost::assets {

using lb::make_frame;
using lb::PacketSpec;

inline constexpr uint8_t kSynAck = net::tcp::kSyn | net::tcp::kAck;

// What became of a frame: "consumed", or the name of the cause why it was dropped.
[[nodiscard]] inline std::string show(Datapath& datapath, std::vector<uint8_t> frame, Tick now) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  net::PacketBatch batch;
  batch.push({.data = frame.data(), .contiguous_bytes = bytes, .total_bytes = bytes});
  datapath.process(batch, now);
  const net::LaneVerdict verdict = batch.verdicts()[0];
  if (verdict.is_consumed()) return "consumed";
  return verdict.is_drop() ? std::string(net::drop_cause_info(verdict.drop_cause()).name) : "sent";
}

[[nodiscard]] inline std::vector<uint8_t> arp_frame(const std::string& mac,
                                                    const std::string& address,
                                                    bool is_request = false) {
  std::vector<uint8_t> frame(60);
  const net::MacAddress from = net::MacAddress::parse(mac).value();
  std::ranges::copy(net::kBroadcastMac.bytes, frame.begin());
  std::ranges::copy(from.bytes, frame.begin() + 6);
  net::store_be16(&frame[12], net::ethernet::kArp);
  net::write_arp(std::span(frame).subspan(14),
                 {.is_request = is_request,
                  .sender_mac = from,
                  .sender = net::Ipv4Address::parse(address).value()});
  return frame;
}

// What a TCP segment says from here; its SYN has the options of make_frame: none.
[[nodiscard]] inline PacketSpec tcp(const std::string& source, uint16_t source_port,
                                    uint8_t flags) {
  return {.source = source, .source_port = source_port, .tcp_flags = flags, .payload = ""};
}

}  // namespace roost::assets

// Captures that tests write themselves: classic pcap, packet by packet, each at its time.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include "roost/net/transport_frame.h"

namespace roost::advise {

// A client of 192.0.2.0/24, or of 2001:db8::/64, and one server.
struct TestPacket {
  double seconds = 0;
  uint16_t client = 1'024;  // port
  bool is_answer = false;
  uint8_t flags = net::tcp::kAck;
  bool is_udp = false;
  bool is_ipv6 = false;
};

class CaptureWriter {
 public:
  explicit CaptureWriter(const std::string& name, uint32_t link_type = 1)
      : path_(testing::TempDir() + name), file_(path_, std::ios::binary) {
    word(0xa1b2c3d4);
    word(0x00040002);  // version 2.4, in two halves
    word(0);
    word(0);
    word(65'535);
    word(link_type);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  void add(const TestPacket& packet) {
    std::array<uint8_t, 128> frame{};
    size_t bytes = 0;
    if (packet.is_ipv6) {
      bytes = write<net::Ipv6Address>(packet, frame, "2001:db8::1", "2001:db8:1::1");
    } else {
      bytes = write<net::Ipv4Address>(packet, frame, "192.0.2.1", "198.51.100.80");
    }
    add_frame(packet.seconds, std::span(frame).first(bytes));
  }
  void add_frame(double seconds, std::span<const uint8_t> frame) {
    word(1'700'000'000 + static_cast<uint32_t>(seconds));
    word(static_cast<uint32_t>((seconds - static_cast<uint32_t>(seconds)) * 1e6));
    word(static_cast<uint32_t>(frame.size()));
    word(static_cast<uint32_t>(frame.size()));
    file_.write(reinterpret_cast<const char*>(frame.data()),
                static_cast<std::streamsize>(frame.size()));
  }
  // A connection that begins and is acknowledged, in three packets within 30 ms.
  void add_handshake(double seconds, uint16_t client) {
    add({.seconds = seconds, .client = client, .flags = net::tcp::kSyn});
    add({.seconds = seconds + 0.01,
         .client = client,
         .is_answer = true,
         .flags = net::tcp::kSyn | net::tcp::kAck});
    add({.seconds = seconds + 0.02, .client = client});
  }
  // FIN of both, and the last acknowledgement.
  void add_close(double seconds, uint16_t client) {
    constexpr uint8_t kFinAck = net::tcp::kFin | net::tcp::kAck;
    add({.seconds = seconds, .client = client, .flags = kFinAck});
    add({.seconds = seconds + 0.01, .client = client, .is_answer = true, .flags = kFinAck});
  }
  void write_bytes(std::string_view bytes) {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void close() { file_.close(); }

 private:
  template <class Address>
  size_t write(const TestPacket& packet, std::span<uint8_t> frame, std::string_view client,
               std::string_view server) {
    net::TransportFrame<Address> header{
        .macs = {.source = {{2, 0, 0, 0, 0, 1}}, .destination = {{2, 0, 0, 0, 0, 2}}},
        .source = {Address::parse(client).value(), packet.client},
        .destination = {Address::parse(server).value(), 80},
        .protocol = packet.is_udp ? net::IpProtocol::kUdp : net::IpProtocol::kTcp,
        .tcp_flags = packet.flags,
        .sequence = 1'000,
        .acknowledgement = packet.flags == net::tcp::kSyn ? 0U : 1'001U};
    if (packet.is_answer) std::swap(header.source, header.destination);
    net::write_transport_frame<Address>(frame, header, 0);
    return header.header_bytes();
  }

  void word(uint32_t value) {
    std::array<char, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    file_.write(bytes.data(), bytes.size());
  }

  std::string path_;
  std::ofstream file_;
};

}  // namespace roost::advise

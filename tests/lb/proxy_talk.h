// Services whose backends are told the client's address by a PROXY header in front of its data: a
// client and a backend that say what a test tells them, and what each must get, byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_fullnat.h"

namespace roost::lb {

inline constexpr uint8_t kAck = net::tcp::kAck;
inline constexpr uint8_t kFin = net::tcp::kFin;
inline constexpr uint8_t kRst = net::tcp::kRst;
inline constexpr uint8_t kSyn = net::tcp::kSyn;

// Both web services with the header, on these ports.
inline std::string proxy_config(const std::string& ports = "80") {
  std::string toml = fullnat_config();
  const std::string mode = "mode = \"fullnat\"\n";
  const std::string port = "port = 80\n";
  for (size_t at = 0; (at = toml.find(mode, at)) != std::string::npos;) {
    toml.replace(toml.find(port, at), port.size(), "port = " + ports + "\n");
    toml.insert(at, "proxy_protocol = true\n");
    at = toml.find(mode, at) + mode.size();
  }
  return toml;
}

struct TalkPorts {
  uint16_t client = 40'000;
  uint16_t service = 80;
};

// Section 2.2 of the protocol, literally.
inline std::string proxy_header_of(const FullnatFamily& f, TalkPorts ports) {
  Bytes header = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x21};
  const net::IpAddress client = net::IpAddress::parse(f.client).value();
  put(header, client.is_ipv6() ? Bytes{0x21, 0, 36} : Bytes{0x11, 0, 12});
  put_address(header, client);
  put_address(header, net::IpAddress::parse(f.virtual_address).value());
  put16(header, ports.client);
  put16(header, ports.service);
  return {header.begin(), header.end()};
}

// A client's connection and its backend.
class ProxyTalk {
 public:
  // Their handshake, by a SYN of this number.
  ProxyTalk(TestBalancer& by, const FullnatFamily& family, uint32_t first,
            TalkPorts talk_ports = {})
      : balancer(&by),
        f(family),
        start(first + 1),
        ports(talk_ports),
        header(proxy_header_of(family, talk_ports)) {
    const PacketSpec syn = client_sends(first, "", kSyn);
    const Fate fate = balancer->send_from_client(syn);
    ends = ends_of(fate);
    EXPECT_EQ(fate.frame, as_backend_gets(syn));
    answer(kSyn | kAck, start, start);
  }

  [[nodiscard]] bool is_six() const { return f.client.find(':') != std::string::npos; }
  [[nodiscard]] size_t l4() const { return is_six() ? 54 : 34; }
  [[nodiscard]] uint32_t bytes() const { return static_cast<uint32_t>(header.size()); }

  [[nodiscard]] PacketSpec client_sends(uint32_t sequence, const std::string& payload,
                                        uint8_t flags) const {
    PacketSpec spec = from_client(f, ports.client, flags);
    spec.destination_port = ports.service;
    spec.sequence = sequence;
    spec.payload = payload;
    return spec;
  }
  [[nodiscard]] PacketSpec backend_sends(uint32_t acknowledged, const std::string& payload,
                                         uint8_t flags) const {
    PacketSpec spec = answer_to(f, ends, flags);
    spec.acknowledgement = acknowledged;
    spec.payload = payload;
    return spec;
  }
  [[nodiscard]] Bytes as_backend_gets(PacketSpec spec) const {
    spec.source_mac = "02:00:00:00:00:02";
    spec.destination_mac = f.backend_macs.at(ends.destination);
    spec.source = ends.source;
    spec.source_port = ends.source_port;
    spec.destination = ends.destination;
    spec.destination_port = ends.destination_port;
    --spec.ttl;
    return make_frame(spec);
  }
  [[nodiscard]] Bytes as_client_gets(PacketSpec spec) const {
    spec.source_mac = "02:00:00:00:00:01";
    spec.destination_mac = "02:00:00:00:01:10";
    spec.source = f.virtual_address;
    spec.source_port = ports.service;
    spec.destination = f.client;
    spec.destination_port = ports.client;
    --spec.ttl;
    return make_frame(spec);
  }

  // The first bytes of the payload become options.
  [[nodiscard]] Bytes with_options(Bytes frame, size_t option_bytes) const {
    frame[l4() + 12] = static_cast<uint8_t>((20 + option_bytes) / 4 << 4);
    set16(frame, l4() + 16, 0);
    const auto transport = frame.begin() + static_cast<ptrdiff_t>(l4());
    Bytes covered(frame.begin() + (is_six() ? 22 : 26), transport);
    put16(covered, 6);
    put16(covered, frame.size() - l4());
    covered.insert(covered.end(), transport, frame.end());
    set16(frame, l4() + 16, checksum_from_scratch(covered));
    return frame;
  }

  // The backend gets this payload at this place.
  void send(uint32_t sequence, const std::string& payload, uint8_t flags, uint32_t place,
            const std::string& received) {
    const PacketSpec sent = client_sends(sequence, payload, flags);
    PacketSpec expected = sent;
    expected.sequence = place;
    expected.payload = received;
    const Fate fate = balancer->send_from_client(sent);
    ASSERT_EQ(fate.cause, std::nullopt);
    EXPECT_EQ(fate.frame, as_backend_gets(expected));
  }
  void refuse(uint32_t sequence, const std::string& payload, uint8_t flags) {
    EXPECT_EQ(balancer->send_from_client(client_sends(sequence, payload, flags)).cause,
              drop_cause::kNoProxyHeader);
  }
  // The client gets this acknowledgement.
  void answer(uint8_t flags, uint32_t acknowledged, uint32_t received) {
    const Fate fate = balancer->send_from_backend(backend_sends(acknowledged, "", flags));
    ASSERT_EQ(fate.cause, std::nullopt);
    Bytes frame = as_client_gets(backend_sends(received, "", flags));
    if ((flags & kSyn) != 0) {
      set16(frame, l4() + 14, 0x1000 - header.size());  // the window leaves room for the header
      frame = with_options(frame, 0);
    }
    EXPECT_EQ(fate.frame, frame);
  }

  TestBalancer* balancer;
  FullnatFamily f;
  uint32_t start;
  TalkPorts ports;
  std::string header;
  Ends ends{};
};

}  // namespace roost::lb

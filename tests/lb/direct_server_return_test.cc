// Services whose backends answer past the balancer: `l2dsr`, `ipip` and `gue`. What a backend gets
// is compared with frames made field by field.
#include <gtest/gtest.h>

#include <algorithm>

#include "roost/net/arp.h"
#include "roost/net/neighbour_discovery.h"
#include "tests/base/step_count.h"
#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_balancer.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

struct Case {
  std::string name;  // of the mode
  bool is_ipv6 = false;

  [[nodiscard]] std::string client() const { return is_ipv6 ? "2001:db8:1::10" : "192.0.2.10"; }
  [[nodiscard]] std::string service() const {
    return is_ipv6 ? "2001:db8:ffff::80" : "198.51.100.80";
  }
  [[nodiscard]] size_t ip_header_bytes() const { return is_ipv6 ? 40 : 20; }
  [[nodiscard]] size_t added_bytes() const {
    if (name == "l2dsr") return 0;
    return ip_header_bytes() + (name == "gue" ? 12 : 0);
  }
};

// The web services in this mode, each with one backend on the service's port.
std::string config_of(const std::string& mode, const std::string& port_options = "") {
  std::string toml = test_config();
  for (const std::string name : {"web", "web6"}) {
    const size_t at = toml.find("name = \"" + name + "\"");
    const size_t begin = toml.find("backends", at);
    const size_t end = toml.find("\n]\n", begin) + 3;
    const std::string address = name == "web" ? "10.0.0.11" : "2001:db8:2::11";
    std::string lines = "mode = \"";
    lines.append(mode).append("\"\nbackends = [{name = \"b1\", address = \"");
    lines.append(address).append("\"}]\n");
    toml.replace(begin, end - begin, lines);
  }
  const std::string second = "mac = \"02:00:00:00:00:02\"\n";
  return toml.replace(toml.find(second), second.size(), second + port_options);
}

PacketSpec from_client(const Case& c, uint8_t flags = net::tcp::kSyn, size_t payload_bytes = 5) {
  PacketSpec spec{.source = c.client(), .destination = c.service(), .tcp_flags = flags};
  spec.payload.assign(payload_bytes, 'x');
  return spec;
}

// What the backend gets without the outer headers.
PacketSpec passed_on(PacketSpec spec) {
  spec.source_mac = "02:00:00:00:00:02";
  spec.destination_mac = "02:00:00:00:02:11";
  --spec.ttl;
  return spec;
}

// The frame with outer headers before its IP packet. `varying`: the frame whose fields that are the
// balancer's to choose (identification, flow label, source port) count.
Bytes encapsulated(const Case& c, const Bytes& frame, const Bytes& varying) {
  constexpr size_t kIp = 14;
  if (c.added_bytes() == 0) return frame;
  Bytes outer(c.added_bytes(), 0);
  const size_t outer_bytes = c.added_bytes() + frame.size() - kIp;
  const uint8_t inside = c.is_ipv6 ? 41 : 4;
  const uint8_t next = c.name == "gue" ? 17 : inside;
  if (c.is_ipv6) {
    const Bytes source = {0x20, 1, 0xd, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    outer[0] = 0x60;
    outer[2] = varying[kIp + 2];
    outer[3] = varying[kIp + 3];
    set16(outer, 4, outer_bytes - 40);
    outer[6] = next;
    outer[7] = 64;
    std::ranges::copy(source, outer.begin() + 8);
    std::ranges::copy(source, outer.begin() + 24);
    outer[39] = 0x11;
  } else {
    outer[0] = 0x45;
    set16(outer, 2, outer_bytes);
    outer[4] = varying[kIp + 4];
    outer[5] = varying[kIp + 5];
    outer[6] = frame[kIp + 6] & 0x40;
    outer[8] = 64;
    outer[9] = next;
    const Bytes ends = {10, 0, 0, 1, 10, 0, 0, 11};
    std::ranges::copy(ends, outer.begin() + 12);
    set16(outer, 10, checksum_from_scratch(Bytes(outer.begin(), outer.begin() + 20)));
  }
  if (c.name == "gue") {
    const size_t udp = c.ip_header_bytes();
    outer[udp] = varying[kIp + udp];
    outer[udp + 1] = varying[kIp + udp + 1];
    set16(outer, udp + 2, 6'080);
    set16(outer, udp + 4, outer_bytes - udp);
    outer[udp + 9] = inside;
  }
  Bytes all(frame.begin(), frame.begin() + kIp);
  all.insert(all.end(), outer.begin(), outer.end());
  all.insert(all.end(), frame.begin() + kIp, frame.end());
  return all;
}

class DirectServerReturn : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(modes, DirectServerReturn,
                         testing::Values(Case{"l2dsr"}, Case{"l2dsr", true}, Case{"ipip"},
                                         Case{"ipip", true}, Case{"gue"}, Case{"gue", true}),
                         [](const auto& one) {
                           return one.param.name + (one.param.is_ipv6 ? "6" : "4");
                         });

TEST_P(DirectServerReturn, the_backend_gets_the_packet_as_it_was_sent) {
  const Case& c = GetParam();
  TestBalancer balancer(config_of(c.name));
  for (const uint8_t flags : {net::tcp::kSyn, net::tcp::kAck}) {
    const Fate fate = balancer.send_from_client(from_client(c, flags));
    ASSERT_EQ(fate.cause, std::nullopt);
    EXPECT_EQ(fate.out_port, 1);
    const Bytes inner = make_frame(passed_on(from_client(c, flags)));
    EXPECT_EQ(fate.frame, encapsulated(c, inner, fate.frame));
  }
  EXPECT_EQ(balancer.state().tracker().counts().created, 1U);
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(DirectServerReturn, a_flow_keeps_its_outer_ports_and_label) {
  const Case& c = GetParam();
  if (c.name == "l2dsr") return;
  TestBalancer balancer(config_of(c.name));
  std::vector<uint16_t> seen;
  for (uint16_t port = 1; port <= 64; ++port) {
    for (int again = 0; again < 2; ++again) {
      PacketSpec spec = from_client(c);
      spec.source_port = port;
      const Bytes frame = balancer.send_from_client(spec).frame;
      const size_t at = c.is_ipv6 ? 14 + 2 : 14 + 20;  // the label, or UDP's source port
      const auto choice = static_cast<uint16_t>(frame[at] << 8 | frame[at + 1]);
      if (c.name == "ipip" && !c.is_ipv6) continue;  // has neither
      if (again == 1) {
        EXPECT_EQ(choice, seen.back());
      } else {
        seen.push_back(choice);
      }
      EXPECT_TRUE(c.name != "gue" || frame[14 + c.ip_header_bytes()] >= 0xc0);
    }
  }
  std::ranges::sort(seen);
  const auto repeated = std::ranges::unique(seen);
  EXPECT_LE(repeated.size(), 3U) << "flows differ";
}

TEST_P(DirectServerReturn, what_is_too_long_with_its_outer_headers_is_told_how_long_it_may_be) {
  const Case& c = GetParam();
  TestBalancer balancer(config_of(c.name, "mtu = 1400\n"));
  const size_t fits = 1'400 - c.added_bytes() - c.ip_header_bytes() - 20;
  EXPECT_EQ(balancer.send_from_client(from_client(c, net::tcp::kSyn, fits)).cause, std::nullopt);
  EXPECT_EQ(balancer.send_from_client(from_client(c, net::tcp::kAck, fits + 1)).cause,
            DropCause::kTooBig);
  ASSERT_EQ(balancer.originated.size(), 1U);
  const Bytes& error = balancer.originated[0].frame;
  const size_t icmp = 14 + c.ip_header_bytes();
  EXPECT_EQ(error[icmp], c.is_ipv6 ? 2 : 3);
  EXPECT_EQ(error[icmp + 6] * 256U + error[icmp + 7], 1'400 - c.added_bytes());
}

TEST_P(DirectServerReturn, what_may_be_cut_leaves_in_pieces_each_with_its_outer_headers) {
  const Case& c = GetParam();
  if (c.is_ipv6) return;
  TestBalancer balancer(config_of(c.name, "mtu = 1400\n"));
  PacketSpec spec = from_client(c, net::tcp::kSyn, 3'500);
  spec.may_be_cut = true;
  EXPECT_TRUE(balancer.send_from_client(spec).is_consumed);
  ASSERT_EQ(balancer.originated.size(), 3U);
  const Bytes whole = make_frame(passed_on(spec));
  Bytes carried;
  for (const Fate& piece : balancer.originated) {
    EXPECT_LE(piece.frame.size(), 14U + 1'400);
    const auto inner_at = static_cast<ptrdiff_t>(14 + c.added_bytes());
    Bytes inner(piece.frame.begin(), piece.frame.begin() + 14);
    inner.insert(inner.end(), piece.frame.begin() + inner_at, piece.frame.end());
    EXPECT_EQ(piece.frame, encapsulated(c, inner, piece.frame));
    EXPECT_EQ((inner[20] & 0x1fU) * 256U + inner[21], carried.size() / 8);
    carried.insert(carried.end(), inner.begin() + 34, inner.end());
  }
  EXPECT_EQ(carried, Bytes(whole.begin() + 34, whole.end()));
}

TEST_P(DirectServerReturn, without_room_before_the_packet_it_is_dropped_whole) {
  const Case& c = GetParam();
  TestBalancer balancer(config_of(c.name));
  if (c.added_bytes() == 0) return;
  const Bytes frame = make_frame(from_client(c));
  const auto room = static_cast<uint32_t>(c.added_bytes());
  EXPECT_EQ(balancer.send({frame, 0, room - 1, {}}).cause, DropCause::kNoHeadroom);
  EXPECT_EQ(balancer.state().tracker().counts().created, 0U);
  EXPECT_EQ(balancer.send({frame, 0, room, {}}).cause, std::nullopt);
}

// The packet waits for its neighbour with its outer headers.
TEST_P(DirectServerReturn, a_packet_that_waits_leaves_encapsulated) {
  const Case& c = GetParam();
  std::string toml = config_of(c.name);
  const std::string address = c.is_ipv6 ? "2001:db8:2::11" : "10.0.0.11";
  const std::string neighbour =
      "[[neighbour]]\naddress = \"" + address + "\"\nmac = \"02:00:00:00:02:11\"\n";
  toml.replace(toml.find(neighbour), neighbour.size(), "");
  TestBalancer balancer(toml);
  const Fate fate = balancer.send_from_client(from_client(c));
  EXPECT_TRUE(fate.is_consumed);
  balancer.originated.clear();
  auto& neighbours = balancer.state().next_hops().neighbours();
  const auto mac = net::MacAddress::parse("02:00:00:00:02:11").value();
  const auto own_mac = net::MacAddress::parse("02:00:00:00:00:02").value();
  const net::IpAddress backend = net::IpAddress::parse(address).value();
  net::Outbox& outbox = balancer.datapath().outbox();
  if (c.is_ipv6) {
    neighbours.receive(
        1,
        net::NeighbourMessage{.is_solicited = true,
                              .is_override = true,
                              .source = backend.ipv6(),
                              .destination = net::IpAddress::parse("2001:db8:2::1").value().ipv6(),
                              .target = backend.ipv6(),
                              .link_address = mac},
        mac, balancer.now, outbox);
  } else {
    neighbours.receive(1,
                       net::ArpMessage{.sender_mac = mac,
                                       .sender = backend.ipv4(),
                                       .target_mac = own_mac,
                                       .target = {{10, 0, 0, 1}}},
                       balancer.now, outbox);
  }
  balancer.idle();
  ASSERT_EQ(balancer.originated.size(), 1U);
  const Bytes inner = make_frame(passed_on(from_client(c)));
  EXPECT_EQ(balancer.originated[0].frame, encapsulated(c, inner, balancer.originated[0].frame));
}

// A router between backend and client reports about a packet that the backend sent by itself.
TEST_P(DirectServerReturn, icmp_errors_about_answers_reach_the_backend_untouched) {
  const Case& c = GetParam();
  TestBalancer balancer(config_of(c.name));
  balancer.send_from_client(from_client(c));
  const PacketSpec answer = {.source = c.service(),
                             .destination = c.client(),
                             .source_port = 80,
                             .destination_port = 40'000,
                             .tcp_flags = net::tcp::kAck};
  IcmpSpec error = {.source = c.is_ipv6 ? "2001:db8:1::99" : "192.0.2.11",
                    .destination = c.service(),
                    .type = static_cast<uint8_t>(c.is_ipv6 ? 2 : 3),
                    .code = static_cast<uint8_t>(c.is_ipv6 ? 0 : 4),
                    .rest = 1'300};
  const size_t bytes = c.ip_header_bytes() + 8;
  const Fate fate = balancer.send({make_icmp_error(error, make_frame(answer), bytes), 0, 128, {}});
  ASSERT_EQ(fate.cause, std::nullopt);
  error.source_mac = "02:00:00:00:00:02";
  error.destination_mac = "02:00:00:00:02:11";
  error.ttl = 63;
  const Bytes inner = make_icmp_error(error, make_frame(answer), bytes);
  EXPECT_EQ(fate.frame, encapsulated(c, inner, fate.frame));
}

// The backend's FIN goes past the balancer; the client's next SYN begins a connection all the same.
TEST_P(DirectServerReturn, the_next_connection_of_the_same_ports_begins_after_the_clients_fin) {
  const Case& c = GetParam();
  TestBalancer balancer(config_of(c.name));
  balancer.send_from_client(from_client(c));
  balancer.send_from_client(from_client(c, net::tcp::kAck));
  balancer.send_from_client(from_client(c, net::tcp::kFin | net::tcp::kAck));
  EXPECT_EQ(balancer.state().tracker().counts().created, 1U);
  balancer.send_from_client(from_client(c));
  EXPECT_EQ(balancer.state().tracker().counts().created, 2U);
  EXPECT_EQ(balancer.state().tracker().counts().ended, 1U);
  // It is a whole one again: silent for longer than after a FIN, it is there still.
  for (int i = 0; i < 3; ++i) balancer.send_from_client(from_client(c, net::tcp::kAck));
  balancer.now = Tick{800};
  EXPECT_EQ(balancer.state().tracker().count_live(), 1U);
  balancer.send_from_client(from_client(c, net::tcp::kAck));
  EXPECT_EQ(balancer.state().tracker().counts().created, 2U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Assured by the client's fourth packet, for the server's are not seen.
TEST_P(DirectServerReturn, a_flood_of_syns_evicts_itself) {
  const Case& c = GetParam();
  std::string toml = config_of(c.name);
  TestBalancer balancer(toml);
  constexpr uint16_t kKept = 3'000;  // of 4,096
  const auto send = [&](uint16_t port, uint8_t flags) {
    PacketSpec spec = from_client(c, flags);
    spec.source_port = port;
    return balancer.send_from_client(spec);
  };
  for (uint16_t port = 1; port <= kKept; ++port) {
    ASSERT_EQ(send(port, net::tcp::kSyn).cause, std::nullopt);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(send(port, net::tcp::kAck).cause, std::nullopt);
  }
  for (uint64_t port = kKept + 1; port < kKept + step_count(57'000); ++port)
    send(static_cast<uint16_t>(port), net::tcp::kSyn);
  const uint64_t created = balancer.state().tracker().counts().created;
  for (uint16_t port = 1; port <= kKept; ++port) send(port, net::tcp::kAck);
  EXPECT_EQ(balancer.state().tracker().counts().created, created) << "all of them are there";
  EXPECT_TRUE(balancer.state().audit());
}

}  // namespace
}  // namespace roost::lb

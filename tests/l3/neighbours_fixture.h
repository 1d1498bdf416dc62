// Neighbours between a port, 192.0.2.1 and 2001:db8:1::1, and Alice on its network, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "roost/l3/neighbours.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"
#include "tests/net/test_frame.h"

namespace roost::l3 {
using enum NeighbourState;
using net::Ipv4Address;
using net::Ipv6Address;
using net::MacAddress;

inline const MacAddress kPortMac = {{2, 0, 0, 0, 0, 1}};
inline const MacAddress kAliceMac = {{2, 0, 0, 0, 1, 0x10}};
inline const MacAddress kMalloryMac = {{2, 0, 0, 0, 6, 0x66}};

inline net::IpAddress ip(const std::string& text) { return net::IpAddress::parse(text).value(); }

inline const net::IpAddress kAlice = ip("192.0.2.10");
inline const net::IpAddress kAlice6 = ip("2001:db8:1::10");
inline const net::IpAddress kOwn = ip("192.0.2.1");
inline const net::IpAddress kOwn6 = ip("2001:db8:1::1");
inline const net::IpAddress kVirtual = ip("192.0.2.80");

// A solicitation or an advertisement that came out of the outbox.
struct Sent {
  std::string what{};  // "who-has", "is-at", "solicit", "advertise", "frame"
  net::IpAddress about{};
  MacAddress to{};
};

class NeighboursTest : public testing::Test {
 protected:
  void make(Neighbours::Config config = {}) {
    config.hash_seed = 5;
    config.pinned_count_max = 4;
    neighbours_.emplace(
        Neighbours::create(config, interfaces_,
                           {{0, kOwn}, {0, kOwn6}, {0, kVirtual}, {0, ip("10.9.0.1")}})
            .value());
  }
  void SetUp() override { make(); }
  void TearDown() override { EXPECT_TRUE(neighbours_->audit()); }

  // What was said since the last time.
  std::vector<Sent> take_sent() {
    std::vector<Sent> all;
    for (size_t i = 0; i < outbox_.frame_count(); ++i) all.push_back(describe(outbox_.frame(i)));
    outbox_.clear();
    return all;
  }
  static Sent describe(const net::Outbox::Frame& frame) {
    net::TestFrame test(frame.bytes);
    net::ParsedPacket parsed;
    const net::ParseVerdict verdict = parse(test.packet, parsed);
    const MacAddress to = net::read_macs(test.packet).destination;
    if (verdict == net::ParseVerdict::kNotIp) {
      const auto arp = net::parse_arp(frame.bytes.subspan(14));
      if (arp)
        return {arp->is_request ? "who-has" : "is-at", arp->is_request ? arp->target : arp->sender,
                to};
    }
    const auto message = net::parse_neighbour_message(test.packet, parsed);
    if (message) return {message->is_solicitation ? "solicit" : "advertise", message->target, to};
    return {"frame", {}, to};
  }

  Way use(NeighbourIndex index) { return neighbours_->use(index, 60, now_, outbox_); }
  void keep(NeighbourIndex index, uint8_t number) {
    neighbours_->keep(index, std::vector<uint8_t>(60, number));
  }
  void pass(uint64_t ticks) {
    for (uint64_t i = 0; i < ticks; ++i) {
      ++now_.count;
      neighbours_->advance(now_, outbox_, 1000);
    }
  }
  void receive_arp(bool is_request, const net::IpAddress& sender, const MacAddress& mac,
                   const net::IpAddress& target) {
    neighbours_->receive(0, {is_request, mac, sender.ipv4(), kPortMac, target.ipv4()}, now_,
                         outbox_);
  }
  void alice_advertises(const MacAddress& mac = kAliceMac) {
    receive_arp(false, kAlice, mac, kOwn);
  }
  [[nodiscard]] const NeighbourEntry& entry(NeighbourIndex index) const {
    return neighbours_->table().entry(index);
  }
  [[nodiscard]] const NeighbourCounters& counters() const { return neighbours_->counters(); }

  // An entry for Alice that she has confirmed.
  NeighbourIndex reachable_alice() {
    const NeighbourIndex index = neighbours_->find_or_make(0, kAlice, now_);
    use(index);
    alice_advertises();
    EXPECT_EQ(entry(index).state, kReachable);
    outbox_.clear();
    return index;
  }

  std::vector<Interface> interfaces_ = {
      {.addresses = {net::IpPrefix::parse("192.0.2.1/24").value(),
                     net::IpPrefix::parse("2001:db8:1::1/64").value(),
                     net::IpPrefix::parse("10.9.0.1/16").value()},
       .mac = kPortMac,
       .vlan = {}}};
  net::Outbox outbox_{{.frame_count_max = 100'000, .bytes_max = 16 << 20}};
  std::optional<Neighbours> neighbours_;
  Tick now_{1000};
};

}  // namespace roost::l3

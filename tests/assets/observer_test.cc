// Which frame shows which host and which service, case by case.
#include "roost/assets/observer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/assets/observed.h"

namespace roost::assets {
namespace {

class Observed : public testing::Test {
 protected:
  explicit Observed(std::vector<net::IpPrefix> networks = {})
      : observer_(Observer::create({.table = {.hosts_max = 100, .services_max = 3, .hash_seed = 1},
                                    .answer_ticks = 30,
                                    .networks = std::move(networks),
                                    .has_log = true})
                      .value()) {}

  std::string show(const PacketSpec& packet, uint64_t tick = 1) {
    return assets::show(datapath_, make_frame(packet), Tick{tick});
  }
  std::string show(const std::vector<uint8_t>& frame, uint64_t tick = 1) {
    return assets::show(datapath_, frame, Tick{tick});
  }
  // "address mac vlan: services", in the order in which they were found.
  std::vector<std::string> hosts() {
    std::vector<std::string> texts;
    for (const Host& host : observer_.table().hosts()) {
      std::string text = host.key.ip().format() + " " + host.key.mac.format().substr(15);
      if (host.key.vlan != 0) text += " " + std::to_string(host.key.vlan);
      if (host.key.inner_vlan != 0) text += "." + std::to_string(host.key.inner_vlan);
      for (const Service& one : observer_.table().services(host)) {
        text += one.protocol == net::IpProtocol::kTcp ? " tcp/" : " udp/";
        text += std::to_string(one.port);
      }
      texts.push_back(text);
    }
    EXPECT_TRUE(observer_.table().audit());
    return texts;
  }
  // What the log is told.
  std::vector<Discovery::Kind> told() {
    std::vector<Discovery::Kind> kinds;
    for (; observer_.discoveries()->front() != nullptr; observer_.discoveries()->release())
      kinds.push_back(observer_.discoveries()->front()->kind);
    return kinds;
  }
  using Texts = std::vector<std::string>;

  Observer observer_;
  Datapath datapath_{observer_};
};

TEST_F(Observed, the_sender_of_an_arp_message_is_a_host) {
  EXPECT_EQ(show(arp_frame("02:00:00:00:00:01", "192.0.2.1", true)), "consumed");
  EXPECT_EQ(show(arp_frame("02:00:00:00:00:02", "192.0.2.2", false)), "consumed");
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 01", "192.0.2.2 02"}));
}

TEST_F(Observed, a_probe_names_no_host_and_a_broken_message_is_dropped) {
  EXPECT_EQ(show(arp_frame("02:00:00:00:00:01", "0.0.0.0", true)), "consumed");
  std::vector<uint8_t> broken = arp_frame("02:00:00:00:00:01", "192.0.2.1");
  broken[21] = 9;  // neither request nor reply
  EXPECT_EQ(show(broken), "bad_neighbour_message");
  broken.resize(30);
  EXPECT_EQ(show(broken), "bad_neighbour_message");
  EXPECT_EQ(hosts(), Texts{});
  EXPECT_EQ(observer_.frames().no_host, 1U);
}

TEST_F(Observed, a_host_is_an_address_a_mac_and_a_vlan) {
  PacketSpec packet = tcp("192.0.2.1", 1, net::tcp::kAck);
  for (const auto& vlan : {std::vector<uint16_t>{}, {7}, {7, 8}, {8, 7}}) {
    packet.vlan = vlan;
    EXPECT_EQ(show(packet), "consumed");
  }
  packet.vlan = {0x6000 | 7};  // with a priority
  show(packet);
  packet.source_mac = "02:00:00:00:01:99";
  show(packet);
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 10", "192.0.2.1 10 7", "192.0.2.1 10 7.8",
                            "192.0.2.1 10 8.7", "192.0.2.1 99 7"}));
}

TEST_F(Observed, groups_and_unspecified_addresses_are_no_hosts) {
  for (const std::string source : {"0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1"}) {
    PacketSpec packet = tcp(source, 1, net::tcp::kSyn);
    packet.destination = source.find(':') == std::string::npos ? "192.0.2.9" : "2001:db8::9";
    EXPECT_EQ(show(packet), "consumed") << source;
  }
  PacketSpec packet = tcp("192.0.2.1", 1, net::tcp::kSyn);
  packet.source_mac = "03:00:00:00:00:01";
  EXPECT_EQ(show(packet), "consumed");
  packet = tcp("::ffff:192.0.2.1", 1, net::tcp::kSyn);
  packet.destination = "2001:db8::9";
  EXPECT_EQ(show(packet), "consumed");
  EXPECT_EQ(hosts(), Texts{});
  EXPECT_EQ(observer_.frames().no_host, 7U);
}

TEST_F(Observed, a_syn_ack_shows_a_service_and_nothing_else_of_tcp_does) {
  show(tcp("192.0.2.1", 80, kSynAck));
  show(tcp("192.0.2.2", 81, net::tcp::kSyn));
  show(tcp("192.0.2.3", 82, net::tcp::kRst | net::tcp::kAck));
  show(tcp("192.0.2.4", 83, net::tcp::kAck));
  show(tcp("192.0.2.5", 84, kSynAck | net::tcp::kRst));
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 10 tcp/80", "192.0.2.2 10", "192.0.2.3 10", "192.0.2.4 10",
                            "192.0.2.5 10"}));
}

TEST_F(Observed, a_datagram_that_answers_another_one_shows_a_service) {
  show(lb::udp("192.0.2.1", 5'000, "192.0.2.2", 53));
  show(lb::udp("192.0.2.2", 53, "192.0.2.1", 5'000), 31);
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 10", "192.0.2.2 10 udp/53"}));
}

TEST_F(Observed, a_datagram_that_answers_nothing_shows_none) {
  show(lb::udp("192.0.2.2", 53, "192.0.2.1", 5'000));  // nobody asked
  show(lb::udp("192.0.2.1", 5'000, "192.0.2.2", 53));  // from above: the client's
  show(lb::udp("192.0.2.3", 5'000, "192.0.2.4", 53));
  show(lb::udp("192.0.2.4", 53, "192.0.2.3", 5'001));      // another port asked
  show(lb::udp("192.0.2.4", 54, "192.0.2.3", 5'000));      // this one was not asked
  show(lb::udp("192.0.2.4", 53, "192.0.2.3", 5'000), 32);  // too late
  for (const std::string& text : hosts()) EXPECT_EQ(text.find("udp"), std::string::npos) << text;
}

TEST_F(Observed, equal_ports_answer_whoever_asked_first) {
  show(lb::udp("192.0.2.1", 123, "192.0.2.2", 123));
  for (int i = 0; i < 2; ++i) {
    show(lb::udp("192.0.2.2", 123, "192.0.2.1", 123));
    show(lb::udp("192.0.2.1", 123, "192.0.2.2", 123));
  }
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 10", "192.0.2.2 10 udp/123"}));
}

TEST_F(Observed, a_service_too_many_takes_the_place_of_the_one_unseen_for_longest) {
  for (const uint16_t port : std::array<uint16_t, 5>{1, 2, 3, 1, 4})
    show(tcp("192.0.2.1", port, kSynAck));
  EXPECT_EQ(hosts(), Texts{"192.0.2.1 10 tcp/4 tcp/1 tcp/3"});
  EXPECT_EQ(observer_.table().counters().services_evicted, 1U);
}

TEST_F(Observed, first_and_last_times_are_those_of_frames) {
  show(tcp("192.0.2.1", 80, kSynAck), 5);
  show(tcp("192.0.2.1", 1, net::tcp::kAck), 9);
  const Host& host = observer_.table().hosts()[0];
  EXPECT_EQ(host.first, Tick{5});
  EXPECT_EQ(host.last, Tick{9});
  EXPECT_EQ(observer_.table().services(host)[0].last, Tick{5});
}

TEST_F(Observed, fragments_and_other_protocols_show_hosts) {
  std::vector<uint8_t> frame = make_frame(tcp("192.0.2.1", 80, kSynAck));
  frame[23] = 132;  // SCTP
  lb::fix_ipv4_checksum(frame);
  EXPECT_EQ(show(frame), "consumed");
  std::vector<uint8_t> later = make_frame(lb::udp("192.0.2.2", 53, "192.0.2.1", 5'000));
  later[21] = 9;  // 72 bytes behind the first
  lb::fix_ipv4_checksum(later);
  EXPECT_EQ(show(later), "consumed");
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 10", "192.0.2.2 10"}));
}

TEST_F(Observed, what_does_not_parse_is_dropped_and_shows_nothing) {
  std::vector<uint8_t> frame = make_frame(tcp("192.0.2.1", 80, kSynAck));
  frame[24] ^= 1;
  EXPECT_EQ(show(frame), "bad_checksum");
  frame.resize(20);
  EXPECT_EQ(show(frame), "truncated");
  frame = make_frame(tcp("192.0.2.1", 80, kSynAck));
  frame[12] = 0x88;
  frame[13] = 0xb5;
  EXPECT_EQ(show(frame), "not_ip");
  EXPECT_EQ(hosts(), Texts{});
}

TEST_F(Observed, the_log_is_told_of_each_host_its_first_syn_and_each_service_once) {
  using enum Discovery::Kind;
  for (int i = 0; i < 2; ++i) {
    show(arp_frame("02:00:00:00:01:10", "192.0.2.1"));
    show(tcp("192.0.2.1", 1, net::tcp::kSyn));
    show(tcp("192.0.2.1", 80, kSynAck));
    show(tcp("192.0.2.2", 1, net::tcp::kSyn));
  }
  EXPECT_EQ(told(), (std::vector{kHost, kSyn, kService, kHost}));
  while (observer_.discoveries()->claim() != nullptr) observer_.discoveries()->publish();
  show(tcp("192.0.2.3", 80, kSynAck));
  EXPECT_EQ(observer_.frames().log_lost, 2U);
}

class ObservedNetworks : public Observed {
 protected:
  ObservedNetworks() : Observed({net::IpPrefix::parse("192.0.2.0/24").value()}) {}
};

TEST_F(ObservedNetworks, only_their_addresses_are_hosts) {
  show(tcp("198.51.100.1", 80, kSynAck));
  show(tcp("192.0.2.1", 80, kSynAck));
  EXPECT_EQ(hosts(), Texts{"192.0.2.1 10 tcp/80"});
  EXPECT_EQ(observer_.frames().foreign, 1U);
  std::vector<net::IpPrefix> networks = {net::IpPrefix::parse("198.51.100.0/24").value()};
  observer_.exchange_networks(networks);
  show(tcp("198.51.100.1", 80, kSynAck));
  show(tcp("192.0.2.2", 80, kSynAck));
  EXPECT_EQ(hosts(), (Texts{"192.0.2.1 10 tcp/80", "198.51.100.1 10 tcp/80"}));
}

TEST_F(ObservedNetworks, who_asks_from_outside_is_answered_by_a_service_inside) {
  show(lb::udp("198.51.100.1", 5'000, "192.0.2.1", 53));
  show(lb::udp("192.0.2.1", 53, "198.51.100.1", 5'000));
  EXPECT_EQ(hosts(), Texts{"192.0.2.1 10 udp/53"});
}

// What prads says of fingerprints, prads_test.py asks itself; these are the ones at the edges.
std::string fingerprint(std::vector<uint8_t> options, bool has_data = false) {
  std::vector<uint8_t> frame = make_frame(tcp("192.0.2.1", 1, net::tcp::kSyn));
  frame.insert(frame.end(), options.begin(), options.end());
  frame[46] = static_cast<uint8_t>((5 + options.size() / 4) << 4);
  if (has_data) frame.insert(frame.end(), {1, 2, 3, 4});
  net::store_be16(&frame[16], static_cast<uint16_t>(frame.size() - 14));
  lb::fix_ipv4_checksum(frame);
  const auto bytes = static_cast<uint32_t>(frame.size());
  const net::Packet packet{.data = frame.data(), .contiguous_bytes = bytes, .total_bytes = bytes};
  net::ParsedPacket parsed;
  EXPECT_EQ(net::parse(packet, parsed), net::ParseVerdict::kOk);
  const std::string text = read_syn(packet, parsed).format();
  return text.substr(text.find(':', 8) + 1);
}

TEST(Fingerprint, values_of_options_are_words) {
  EXPECT_EQ(fingerprint({2, 4, 5, 0xb4, 1, 3, 3, 7, 4, 2, 1, 1}), "52:M1460,N,W7,S,N,N:QA");
  EXPECT_EQ(fingerprint({99, 4, 1, 2}), "44:?99:QA");
}

TEST(Fingerprint, options_stop_where_they_are_broken) {
  EXPECT_EQ(fingerprint({}), "40:.:QA");
  EXPECT_EQ(fingerprint({1, 34, 0, 1}), "44:N.:QA!") << "prads so ends one letter, too";
  EXPECT_EQ(fingerprint({1, 1, 1, 2}), "44:N,N,N:QA!");
  EXPECT_EQ(fingerprint({1, 1, 1, 2}, true), "48:N,N,N,M515:QAD") << "it reads into the data";
  EXPECT_EQ(fingerprint(std::vector<uint8_t>(16, 1)), "56:N,N,N,N,N,N,N,N,N,N,N,N,N,N,N:QA!");
  std::vector<uint8_t> fifteen(14, 1);
  fifteen.insert(fifteen.end(), {4, 2});
  EXPECT_EQ(fingerprint(fifteen), "56:N,N,N,N,N,N,N,N,N,N,N,N,N,N,S:QA!") << "nothing is behind";
  EXPECT_EQ(fingerprint({8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}), "52:T,E,E:QPA");
  EXPECT_EQ(fingerprint({8, 10, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}), "52:T0,N,N:QAT");
}

}  // namespace
}  // namespace roost::assets

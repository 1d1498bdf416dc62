// What the NAT makes of packets: mapping, filtering, hairpinning, fragments, owners.
#include <array>

#include "tests/nat/test_nat.h"

namespace roost::nat {
namespace {

using lb::PacketSpec;
using lb::udp;
using net::DropCause;

constexpr const char* kExternal = "192.0.2.100";

TEST_F(NatTest, translates_source_out_and_destination_in_with_right_checksums) {
  make(nat_toml());
  const PacketSpec out{.source = "10.0.0.10", .destination = "198.51.100.80"};
  const Sent sent = from_inside(out);
  ASSERT_TRUE(sent.verdict.is_forward());
  EXPECT_EQ(sent.verdict.out_port(), 1U);
  PacketSpec expected = out;
  expected.source = kExternal;
  expected.source_port = sent.source_port();
  expected.ttl = 63;
  expected.source_mac = "02:00:00:00:00:02";
  expected.destination_mac = "02:00:00:00:02:fe";
  EXPECT_EQ(sent.frame, lb::make_frame(expected));

  const PacketSpec answer{.source = "198.51.100.80",
                          .destination = kExternal,
                          .source_port = 80,
                          .destination_port = sent.source_port(),
                          .tcp_flags = net::tcp::kSyn | net::tcp::kAck};
  const Sent back = from_outside(answer);
  ASSERT_TRUE(back.verdict.is_forward());
  PacketSpec inside = answer;
  inside.destination = "10.0.0.10";
  inside.destination_port = 40'000;
  inside.ttl = 63;
  inside.source_mac = "02:00:00:00:00:01";
  inside.destination_mac = "02:00:00:00:01:10";
  EXPECT_EQ(back.frame, lb::make_frame(inside));
  EXPECT_EQ(states_[0]->tracker().connections().counts().created, 1U);
}

TEST_F(NatTest, an_endpoint_has_one_external_end_whomever_it_talks_to) {
  make(nat_toml("", "\"192.0.2.100\", \"192.0.2.101\", \"192.0.2.102\""));
  const Sent first = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53));
  for (const uint16_t port : std::array<uint16_t, 3>{53, 54, 9'999}) {
    const Sent sent = from_inside(udp("10.0.0.10", 5'000, "198.51.100.7", port));
    EXPECT_EQ(sent.source(), first.source());
    EXPECT_EQ(sent.source_port(), first.source_port());
  }
  // A host keeps its address; another endpoint has another port, of the same parity.
  const Sent other = from_inside(udp("10.0.0.10", 5'001, "198.51.100.1", 53));
  EXPECT_EQ(other.source(), first.source());
  EXPECT_NE(other.source_port(), first.source_port());
  EXPECT_EQ(other.source_port() % 2, 1);
  EXPECT_EQ(first.source_port() % 2, 0);
}

TEST_F(NatTest, filtering_is_endpoint_independent_unless_the_file_says_otherwise) {
  make(nat_toml());
  const uint16_t port = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53)).source_port();
  EXPECT_TRUE(from_outside(udp("198.51.100.1", 54, kExternal, port)).verdict.is_forward());
  EXPECT_TRUE(from_outside(udp("198.51.100.2", 53, kExternal, port)).verdict.is_forward());
  EXPECT_EQ(from_outside(udp("198.51.100.1", 53, kExternal, 1'000)).cause(),
            drop_cause::kNoMapping);
}

TEST_F(NatTest, filtering_by_address_forgets_who_was_asked_long_ago) {
  make(nat_toml("filtering = \"address\""));
  const uint16_t port = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53)).source_port();
  pass_seconds(200);
  EXPECT_EQ(from_inside(udp("10.0.0.10", 5'000, "198.51.100.9", 53)).source_port(), port);
  EXPECT_TRUE(from_outside(udp("198.51.100.9", 77, kExternal, port)).verdict.is_forward());
  EXPECT_EQ(from_outside(udp("198.51.100.2", 53, kExternal, port)).cause(), drop_cause::kFiltered);
  pass_seconds(120);
  EXPECT_EQ(from_outside(udp("198.51.100.1", 77, kExternal, port)).cause(), drop_cause::kFiltered);
  EXPECT_TRUE(from_outside(udp("198.51.100.9", 78, kExternal, port)).verdict.is_forward());
}

TEST_F(NatTest, filtering_by_address_and_port_lets_in_who_was_asked) {
  make(nat_toml("filtering = \"address_and_port\""));
  const uint16_t port = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53)).source_port();
  EXPECT_TRUE(from_outside(udp("198.51.100.1", 53, kExternal, port)).verdict.is_forward());
  EXPECT_EQ(from_outside(udp("198.51.100.1", 54, kExternal, port)).cause(), drop_cause::kFiltered);
  EXPECT_EQ(from_outside(udp("198.51.100.2", 53, kExternal, port)).cause(), drop_cause::kFiltered);
}

TEST_F(NatTest, hairpinned_packets_get_both_ends) {
  make(nat_toml());
  const uint16_t port = from_inside(udp("10.0.0.11", 6'000, "198.51.100.1", 53)).source_port();
  const Sent sent = from_inside(udp("10.0.0.10", 5'000, kExternal, port));
  ASSERT_TRUE(sent.verdict.is_forward());
  EXPECT_EQ(sent.verdict.out_port(), 0U);
  EXPECT_EQ(sent.source(), kExternal);
  EXPECT_EQ(sent.destination(), "10.0.0.11");
  EXPECT_EQ(sent.destination_port(), 6'000);
  const Sent back = from_inside(udp("10.0.0.11", 6'000, kExternal, sent.source_port()));
  ASSERT_TRUE(back.verdict.is_forward());
  EXPECT_EQ(back.source(), kExternal);
  EXPECT_EQ(back.source_port(), port);
  EXPECT_EQ(back.destination(), "10.0.0.10");
  EXPECT_EQ(back.destination_port(), 5'000);
  EXPECT_EQ(states_[0]->counters().hairpinned, 2U);
}

TEST_F(NatTest, workers_share_hosts_and_hairpin_between_them) {
  make(nat_toml("", "\"192.0.2.100\", \"192.0.2.101\""), 2);
  // Hosts of either address.
  std::array<std::string, 2> hosts;
  for (int i = 2; i < 250; ++i) {
    const std::string host = "10.0.0." + std::to_string(i);
    const auto address = net::Ipv4Address::parse(host).value();
    hosts[states_[0]->held().external.of_host(address)] = host;
  }
  const Sent first = from_inside(udp(hosts[0], 5'000, "198.51.100.1", 53), 1);
  EXPECT_EQ(first.handoffs, 1U);
  EXPECT_EQ(first.source(), "192.0.2.100");
  const Sent second = from_inside(udp(hosts[1], 6'000, "198.51.100.1", 53), 1);
  EXPECT_EQ(second.handoffs, 0U);
  EXPECT_EQ(second.source(), "192.0.2.101");
  EXPECT_EQ(from_outside(udp("198.51.100.1", 53, "192.0.2.101", second.source_port())).handoffs,
            1U);
  // From a host of the first worker to one of the second, received by the second: two hand-offs.
  const Sent pinned = from_inside(udp(hosts[0], 5'000, "192.0.2.101", second.source_port()), 1);
  EXPECT_EQ(pinned.handoffs, 2U);
  EXPECT_EQ(pinned.source(), "192.0.2.100");
  EXPECT_EQ(pinned.source_port(), first.source_port());
  EXPECT_EQ(pinned.destination(), hosts[1]);
  EXPECT_EQ(pinned.destination_port(), 6'000);
}

TEST_F(NatTest, a_forward_is_open_to_everybody_and_its_host_answers_from_it) {
  make(nat_toml("filtering = \"address_and_port\"") +
       "[[forward]]\nprotocol = \"tcp\"\nexternal = \"192.0.2.100:80\"\ninside = "
       "\"10.0.0.10:8080\"\n");
  const Sent in = from_outside({.source = "198.51.100.9", .destination = kExternal});
  ASSERT_TRUE(in.verdict.is_forward());
  EXPECT_EQ(in.destination(), "10.0.0.10");
  EXPECT_EQ(in.destination_port(), 8'080);
  const Sent out = from_inside({.source = "10.0.0.10",
                                .destination = "198.51.100.9",
                                .source_port = 8'080,
                                .destination_port = 40'000,
                                .tcp_flags = net::tcp::kSyn | net::tcp::kAck});
  EXPECT_EQ(out.source(), kExternal);
  EXPECT_EQ(out.source_port(), 80);
  EXPECT_EQ(from_outside({.source = "198.51.100.9",
                          .destination = kExternal,
                          .source_port = 41'000,
                          .tcp_flags = net::tcp::kAck})
                .cause(),
            DropCause::kNoFlow);
}

TEST_F(NatTest, unsolicited_tcp_begins_by_a_syn_only_and_is_dropped_in_silence) {
  make(nat_toml());
  const uint16_t port =
      from_inside({.source = "10.0.0.10", .destination = "198.51.100.1"}).source_port();
  PacketSpec spec{.source = "198.51.100.2", .destination = kExternal, .destination_port = port};
  for (const uint8_t flags : {net::tcp::kAck, net::tcp::kRst, net::tcp::kFin}) {
    spec.tcp_flags = flags;
    EXPECT_EQ(from_outside(spec).cause(), DropCause::kNoFlow);
  }
  spec.tcp_flags = net::tcp::kSyn;
  EXPECT_TRUE(from_outside(spec).verdict.is_forward());
  spec.destination_port = static_cast<uint16_t>(port ^ 1U);
  EXPECT_EQ(from_outside(spec).cause(), drop_cause::kNoMapping);
  EXPECT_TRUE(take_own().empty());
}

TEST_F(NatTest, both_ends_may_open_a_connection_at_once) {
  make(nat_toml("filtering = \"address_and_port\""));
  const uint16_t port =
      from_inside({.source = "10.0.0.10", .destination = "198.51.100.1"}).source_port();
  PacketSpec syn{.source = "198.51.100.1",
                 .destination = kExternal,
                 .source_port = 80,
                 .destination_port = port};
  EXPECT_TRUE(from_outside(syn).verdict.is_forward());
  syn.tcp_flags = net::tcp::kSyn | net::tcp::kAck;
  EXPECT_TRUE(from_outside(syn).verdict.is_forward());
  EXPECT_TRUE(from_inside({.source = "10.0.0.10",
                           .destination = "198.51.100.1",
                           .tcp_flags = net::tcp::kSyn | net::tcp::kAck})
                  .verdict.is_forward());
}

TEST_F(NatTest, mappings_end_with_their_connections_and_not_before) {
  make(nat_toml());
  const uint16_t port = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53)).source_port();
  pass_seconds(295);
  EXPECT_TRUE(from_outside(udp("198.51.100.1", 53, kExternal, port)).verdict.is_forward());
  pass_seconds(295);
  EXPECT_TRUE(from_outside(udp("198.51.100.1", 53, kExternal, port)).verdict.is_forward());
  pass_seconds(310);
  EXPECT_EQ(from_outside(udp("198.51.100.1", 53, kExternal, port)).cause(), drop_cause::kNoMapping);
  EXPECT_EQ(states_[0]->held().mappings.live_count(), 0U);
}

TEST_F(NatTest, the_201st_mapping_of_200_ports_is_refused_and_the_200_go_on) {
  make(nat_toml("ports = [2000, 2199]"));
  const auto ask = [&](int host) {
    return from_inside(udp("10.0.1." + std::to_string(host), 5'000, "198.51.100.1", 53));
  };
  std::vector<uint16_t> ports;
  for (int host = 1; host <= 200; ++host) ports.push_back(ask(host).source_port());
  EXPECT_EQ(ask(201).cause(), drop_cause::kNoPort);
  EXPECT_EQ(states_[0]->held().mappings.counters().refused_no_port, 1U);
  for (int host = 1; host <= 200; ++host)
    EXPECT_EQ(ask(host).source_port(), ports[static_cast<size_t>(host - 1)]);
  pass_seconds(310);
  EXPECT_TRUE(ask(201).verdict.is_forward());
  EXPECT_EQ(states_[0]->held().mappings.live_count(), 1U);
}

TEST_F(NatTest, a_host_has_no_more_ports_than_it_may) {
  make(nat_toml("ports_per_host = 2"));
  EXPECT_TRUE(from_inside(udp("10.0.0.10", 1, "198.51.100.1", 53)).verdict.is_forward());
  EXPECT_TRUE(from_inside(udp("10.0.0.10", 2, "198.51.100.1", 53)).verdict.is_forward());
  EXPECT_EQ(from_inside(udp("10.0.0.10", 3, "198.51.100.1", 53)).cause(), drop_cause::kHostLimit);
  EXPECT_TRUE(from_inside(udp("10.0.0.11", 3, "198.51.100.1", 53)).verdict.is_forward());
}

TEST_F(NatTest, what_stays_inside_or_is_for_us_is_not_translated) {
  make(nat_toml());
  const Sent sent = from_inside(udp("10.0.0.10", 5'000, "10.0.0.11", 53));
  ASSERT_TRUE(sent.verdict.is_forward());
  EXPECT_EQ(sent.source(), "10.0.0.10");
  EXPECT_EQ(states_[0]->counters().untranslated, 1U);
  EXPECT_EQ(from_inside(udp("10.0.0.10", 5'000, "10.0.0.1", 53)).cause(), DropCause::kNotServed);
  EXPECT_EQ(from_outside(udp("198.51.100.1", 53, "10.0.0.10", 53)).cause(),
            drop_cause::kNotExternal);
  EXPECT_EQ(from_outside(udp("192.0.2.100", 53, "192.0.2.101", 53)).cause(), DropCause::kMartian);
  EXPECT_EQ(from_inside(udp("192.0.2.100", 53, "198.51.100.1", 53)).cause(), DropCause::kMartian);
  EXPECT_EQ(states_[0]->tracker().connections().counts().created, 0U);
}

TEST_F(NatTest, ipv6_is_dropped_or_routed) {
  make(nat_toml());
  const PacketSpec spec{.source = "2001:db8:1::10", .destination = "2001:db8:9::5"};
  EXPECT_EQ(from_inside(spec).cause(), drop_cause::kIpv6);
}

TEST_F(NatTest, ipv6_is_routed_if_the_file_says_so) {
  make(nat_toml("ipv6 = \"route\""));
  const PacketSpec spec{.source = "2001:db8:1::10", .destination = "2001:db8:9::5"};
  EXPECT_TRUE(from_inside(spec).verdict.is_forward());
}

// The error is about the packet as the host sent it, which it can find.
TEST_F(NatTest, what_is_too_big_is_told_to_the_host_that_sent_it) {
  make(nat_toml());
  PacketSpec spec = udp("10.0.0.10", 5'000, "198.51.100.1", 53);
  spec.payload = std::string(1'450, 'x');
  EXPECT_EQ(from_inside(spec).cause(), DropCause::kTooBig);
  const std::vector<Frame> own = take_own();
  ASSERT_EQ(own.size(), 1U);
  const Sent error{.frame = own[0]};
  EXPECT_EQ(error.destination(), "10.0.0.10");
  EXPECT_EQ(error.address(14 + 20 + 8 + 12), "10.0.0.10");
  EXPECT_EQ(error.word(14 + 20 + 8 + 20), 5'000);
  // Without "don't fragment" it is cut.
  spec.may_be_cut = true;
  EXPECT_TRUE(from_inside(spec).verdict.is_consumed());
  EXPECT_EQ(take_own().size(), 2U);
}

// Who was asked by UDP has not been asked by TCP.
TEST_F(NatTest, filtering_is_of_each_protocol_apart) {
  make(nat_toml("filtering = \"address\""));
  const uint16_t udp_port = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53)).source_port();
  const uint16_t tcp_port =
      from_inside({.source = "10.0.0.10", .destination = "198.51.100.2", .source_port = 5'000})
          .source_port();
  PacketSpec syn{.source = "198.51.100.1", .destination = kExternal, .destination_port = tcp_port};
  EXPECT_EQ(from_outside(syn).cause(), drop_cause::kFiltered);
  syn.source = "198.51.100.2";
  EXPECT_TRUE(from_outside(syn).verdict.is_forward());
  EXPECT_TRUE(from_outside(udp("198.51.100.1", 9, kExternal, udp_port)).verdict.is_forward());
}

// The second half of a datagram has no ports.
std::array<Frame, 2> halves(const PacketSpec& spec, uint16_t id) {
  const Frame whole = lb::make_frame(spec);
  std::array<Frame, 2> parts;
  for (size_t i = 0; i < 2; ++i) {
    Frame& part = parts[i];
    const size_t begin = i == 0 ? 34 : 34 + 512;
    const size_t end = i == 0 ? 34 + 512 : whole.size();
    part.assign(whole.begin(), whole.begin() + 34);
    part.insert(part.end(), whole.begin() + static_cast<ptrdiff_t>(begin),
                whole.begin() + static_cast<ptrdiff_t>(end));
    const size_t ip_bytes = part.size() - 14;
    part[16] = static_cast<uint8_t>(ip_bytes >> 8);
    part[17] = static_cast<uint8_t>(ip_bytes & 0xff);
    part[18] = static_cast<uint8_t>(id >> 8);
    part[19] = static_cast<uint8_t>(id & 0xff);
    part[20] = i == 0 ? 0x20 : 0;
    part[21] = i == 0 ? 0 : 64;
    lb::fix_ipv4_checksum(part);
  }
  return parts;
}

TEST_F(NatTest, fragments_follow_their_first_one_in_any_order) {
  make(nat_toml());
  PacketSpec spec = udp("10.0.0.10", 5'000, "198.51.100.1", 53);
  spec.payload = std::string(900, 'x');
  spec.may_be_cut = true;
  const auto in_order = halves(spec, 1);
  const Sent first = send(in_order[0], 0);
  ASSERT_TRUE(first.verdict.is_forward());
  EXPECT_EQ(first.source(), kExternal);
  const Sent second = send(in_order[1], 0);
  ASSERT_TRUE(second.verdict.is_forward());
  EXPECT_EQ(second.source(), kExternal);
  const auto reordered = halves(spec, 2);
  EXPECT_TRUE(send(reordered[1], 0).verdict.is_consumed());
  EXPECT_TRUE(send(reordered[0], 0).verdict.is_forward());
  const std::vector<Frame> own = take_own();
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(Sent{.frame = own[0]}.source(), kExternal);
}

TEST_F(NatTest, a_reset_from_outside_ends_nothing_at_once) {
  make(nat_toml());
  const uint16_t port =
      from_inside({.source = "10.0.0.10", .destination = "198.51.100.80"}).source_port();
  PacketSpec reset{.source = "198.51.100.80",
                   .destination = kExternal,
                   .source_port = 80,
                   .destination_port = port,
                   .tcp_flags = net::tcp::kRst | net::tcp::kAck};
  EXPECT_TRUE(from_outside(reset).verdict.is_forward());
  pass_seconds(230);
  EXPECT_EQ(states_[0]->held().mappings.live_count(), 1U);
  pass_seconds(30);
  EXPECT_EQ(states_[0]->held().mappings.live_count(), 0U);
}

}  // namespace
}  // namespace roost::nat

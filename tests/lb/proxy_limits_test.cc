// Where a PROXY header has an effect beside the numbers: options, lengths, errors, fragments, other
// ports, and configurations.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/lb/proxy_talk.h"
#include "tests/lb/refused_config.h"
#include "tests/lb/reloaded.h"
#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

class ProxyLimits : public testing::TestWithParam<FullnatFamily> {
 protected:
  TestBalancer balancer_{proxy_config()};
};

INSTANTIATE_TEST_SUITE_P(both, ProxyLimits, testing::Values(kFullnat4, kFullnat6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(ProxyLimits, options_say_the_clients_numbers) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const uint32_t s = t.start;
  const uint32_t n = t.bytes();
  const auto answer = [&](uint8_t flags, const Bytes& options, uint32_t acknowledged) {
    return t.backend_sends(acknowledged, std::string(options.begin(), options.end()), flags);
  };
  const auto sack = [](uint32_t left, uint32_t right) {
    Bytes options = {1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0};  // at an odd place
    for (const auto& [at, edge] : {std::pair(3U, left), std::pair(7U, right)}) {
      set16(options, at, edge >> 16);
      set16(options, at + 2, edge);
    }
    return options;
  };
  PacketSpec sent = answer(kAck, sack(s + n + 10, s + n + 20), s);
  Fate fate = t.balancer->send({t.with_options(make_frame(sent), 12), 1, 128, {}});
  PacketSpec expected = answer(kAck, sack(s + 10, s + 20), s);
  EXPECT_EQ(fate.frame, t.with_options(t.as_client_gets(expected), 12));

  const auto mss = [](uint16_t value) {
    Bytes options = {2, 4, 0, 0};
    set16(options, 2, value);
    return options;
  };
  fate = t.balancer->send(
      {t.with_options(make_frame(answer(kAck | kSyn, mss(1'460), s)), 4), 1, 128, {}});
  Bytes frame = t.as_client_gets(answer(kAck | kSyn, mss(static_cast<uint16_t>(1'460 - n)), s));
  set16(frame, t.l4() + 14, 0x1000 - n);
  EXPECT_EQ(fate.frame, t.with_options(frame, 4));
}

TEST_P(ProxyLimits, fast_open_is_not_offered) {
  const FullnatFamily& f = GetParam();
  ProxyTalk t(balancer_, f, 1'000);
  PacketSpec syn = from_client(f, 41'000);
  syn.payload = std::string("\x22\x02\x01\x01", 4);
  const Fate fate = t.balancer->send({t.with_options(make_frame(syn), 4), 0, 128, {}});
  t.ends = ends_of(fate);
  syn.payload = "\x01\x01\x01\x01";
  EXPECT_EQ(fate.frame, t.with_options(t.as_backend_gets(syn), 4));
}

TEST_P(ProxyLimits, what_does_not_fit_is_answered) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const size_t headers = t.is_six() ? 60 : 40;
  const std::string most(1'500 - headers - t.bytes(), 'x');
  t.send(t.start, most, kAck, t.start, t.header + most);
  EXPECT_EQ(t.balancer->send_from_client(t.client_sends(t.start, most + "x", kAck)).cause,
            DropCause::kTooBig);
  Arrival narrow{make_frame(t.client_sends(t.start, "x", kAck)), 0, t.bytes() - 1, {}};
  EXPECT_EQ(t.balancer->send(narrow).cause, DropCause::kNoHeadroom);
}

TEST_P(ProxyLimits, errors_say_the_clients_numbers_and_leave_room) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const bool is_six = t.is_six();
  const PacketSpec data = t.client_sends(t.start + 9, "data", kAck);
  const Fate fate = t.balancer->send_from_client(data);
  const auto error = [&](uint32_t mtu) {
    return IcmpSpec{.source_mac = t.f.backend_macs.at(t.ends.destination),
                    .destination_mac = "02:00:00:00:00:02",
                    .source = t.ends.destination,
                    .destination = t.ends.source,
                    .type = static_cast<uint8_t>(is_six ? 2 : 3),
                    .code = static_cast<uint8_t>(is_six ? 0 : 4),
                    .rest = mtu};
  };
  const size_t bytes = is_six ? 60 : 40;
  const Fate told =
      t.balancer->send({make_icmp_error(error(1'400), fate.frame, bytes), 1, 128, {}});
  ASSERT_EQ(told.cause, std::nullopt);
  IcmpSpec expected = error(1'400 - t.bytes());
  expected.source_mac = "02:00:00:00:00:01";
  expected.destination_mac = "02:00:00:00:01:10";
  expected.source = t.f.virtual_address;
  expected.destination = t.f.client;
  --expected.ttl;
  PacketSpec sent = data;
  --sent.ttl;
  EXPECT_EQ(told.frame, make_icmp_error(expected, make_frame(sent), bytes));
}

TEST_P(ProxyLimits, fragments_pass_once_the_backend_has_the_header) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const FragmentFamily& cut = t.is_six() ? kFragments6 : kFragments4;
  const uint32_t n = t.bytes();
  PacketSpec sent = t.client_sends(t.start, std::string(100, 'x'), kAck);
  sent.may_be_cut = true;
  const auto pieces = [&](const Bytes& whole) {
    const size_t carried = whole.size() - t.l4();
    return std::vector<Bytes>{fragment_of(cut, whole, 0, 64, 7),
                              fragment_of(cut, whole, 64, carried, 7)};
  };
  for (const Bytes& piece : pieces(make_frame(sent))) {
    EXPECT_EQ(balancer_.send({piece, 0, 128, {}}).cause, drop_cause::kNoProxyHeader);
  }
  t.send(t.start, "hello", kAck, t.start, t.header + "hello");
  t.answer(kAck, t.start + n + 5, t.start + 5);
  sent.sequence += 5;
  PacketSpec expected = sent;
  expected.sequence += n;
  EXPECT_EQ(pass(balancer_, pieces(make_frame(sent)), 0, 1), pieces(t.as_backend_gets(expected)));
}

// The header has the port that the client asked, the backend its own one of the range.
TEST_P(ProxyLimits, each_port_of_a_range_is_named) {
  TestBalancer balancer(proxy_config("\"78-82\""));
  ProxyTalk t(balancer, GetParam(), 1'000, {.client = 40'000, .service = 81});
  EXPECT_EQ(t.ends.destination_port, 8'083);
  t.send(t.start, "hello", kAck, t.start, t.header + "hello");
  t.answer(kAck, t.start + t.bytes(), t.start);
  t.send(t.start, "hello", kAck, t.start + t.bytes(), "hello");
  t.answer(kAck, t.start + t.bytes() + 5, t.start + 5);
}

TEST_P(ProxyLimits, a_reload_leaves_connections_as_they_began) {
  ProxyTalk with(balancer_, GetParam(), 1'000);
  take(balancer_, *parse_config(fullnat_config()).config);
  with.send(with.start, "hello", kAck, with.start, with.header + "hello");
  with.answer(kAck, with.start + with.bytes() + 5, with.start + 5);
  const uint16_t port = 41'000;
  PacketSpec syn = from_client(with.f, port);
  syn.payload.clear();
  const Ends ends = ends_of(balancer_.send_from_client(syn));
  take(balancer_, *parse_config(proxy_config()).config);
  PacketSpec data = from_client(with.f, port, kAck);
  ++data.sequence;
  const Fate fate = balancer_.send_from_client(data);
  EXPECT_EQ(ends_of(fate), ends);
  EXPECT_EQ(fate.frame.size(), make_frame(data).size()) << "nothing is put in front";
  with.send(with.start + 5, "world", kAck, with.start + 5 + with.bytes(), "world");
  ProxyTalk next(balancer_, GetParam(), 5'000, {.client = 42'000});
  next.send(next.start, "hello", kAck, next.start, next.header + "hello");
  EXPECT_EQ(broken_sums(balancer_.report()), std::vector<std::string>());
}

TEST(config, refuses_the_proxy_header_where_it_cannot_be) {
  const std::string web = "[[service]]\nname = \"web\"\n";
  const std::string dns = "[[service]]\nname = \"dns\"\n";
  for (const BadFile& bad :
       std::vector<BadFile>{{web, "[[service]] #!\nname = \"web\"\nproxy_protocol = true\n",
                             "backends see the client's address anyway"},
                            {dns, "[[service]] #!\nname = \"dns\"\nproxy_protocol = true\n",
                             "proxy_protocol is for TCP"}}) {
    expect_refused(bad);
  }
}

TEST(config, refuses_the_proxy_header_where_a_port_has_no_room) {
  const auto with_mtu = [](const std::string& mtu) {
    std::string toml = proxy_config();
    const std::string mac = "mac = \"02:00:00:00:00:02\"\n";
    toml.insert(toml.find(mac), "mtu = " + mtu + "\n");
    const std::string service = "[[service]]";
    toml.insert(toml.find(service + "\nname = \"web6\"") + service.size(), " #!");
    return toml;
  };
  EXPECT_TRUE(parse_config(with_mtu("1332")).config.has_value());
  const std::string toml = with_mtu("1331");
  config::expect_fault_at_mark(toml, parse_config(toml).faults, "make it 1332 or more");
}

}  // namespace
}  // namespace roost::lb

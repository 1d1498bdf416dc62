// A PROXY header in front of a client's data: which numbers both ends see, whatever is sent again.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/lb/proxy_talk.h"

namespace roost::lb {
namespace {

class ProxyProtocol : public testing::TestWithParam<FullnatFamily> {
 protected:
  TestBalancer balancer_{proxy_config()};
};

INSTANTIATE_TEST_SUITE_P(both, ProxyProtocol, testing::Values(kFullnat4, kFullnat6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

// What HAProxy 2.6.12 sends a server with `send-proxy-v2` for these ends.
TEST_P(ProxyProtocol, the_header_is_that_of_haproxy) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const std::string hex = t.is_six() ? "0d0a0d0a000d0a515549540a21210024"
                                       "20010db8000100000000000000000010"
                                       "20010db8ffff00000000000000000080"
                                       "9c400050"
                                     : "0d0a0d0a000d0a515549540a2111000c"
                                       "c000020ac63364509c400050";
  std::string header;
  for (size_t at = 0; at < hex.size(); at += 2) {
    header += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  t.send(t.start, "hello", kAck, t.start, header + "hello");
}

TEST_P(ProxyProtocol, the_header_is_in_front_of_the_first_data_each_time_they_pass) {
  ProxyTalk t(balancer_, GetParam(), 0xffffffff);
  const uint32_t s = t.start;
  const uint32_t n = t.bytes();
  t.send(s, "", kAck, s, "");
  t.send(s - 1, "", kAck, s - 1, "");    // a keepalive
  t.send(s - 1, "x", kAck, s - 1, "x");  // an older one
  t.send(s, "hello", kAck, s, t.header + "hello");
  t.send(s + 5, "world", kAck, s + 5 + n, "world");
  t.send(s, "h", kAck, s, t.header + "h");
  t.send(s, "helloworld!", kAck, s, t.header + "helloworld!");
  t.answer(kAck, s + 7, s);
  t.send(s, "", kRst, s, "");
}

TEST_P(ProxyProtocol, both_streams_are_shifted_once_the_backend_has_it) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const uint32_t s = t.start;
  const uint32_t n = t.bytes();
  t.send(s, "hello", kAck, s, t.header + "hello");
  t.answer(kAck, s + n, s);
  t.send(s, "hello", kAck, s + n, "hello");
  t.answer(kAck, s + n + 5, s + 5);
  t.send(s + 5, "", kAck | kFin, s + 5 + n, "");
  t.answer(kAck | kFin, s + n + 6, s + 6);
  // More than 2 GB later.
  t.send(s + 0x90000000, "", kRst, s + 0x90000000 + n, "");
}

TEST_P(ProxyProtocol, a_client_that_only_ends_gets_its_header_too) {
  ProxyTalk t(balancer_, GetParam(), 77);
  t.send(t.start, "", kAck | kFin, t.start, t.header);
  t.answer(kAck, t.start + t.bytes() + 1, t.start + 1);
}

TEST_P(ProxyProtocol, no_client_can_write_the_header) {
  ProxyTalk t(balancer_, GetParam(), 77);
  t.refuse(t.start - 1, "PROXY", kAck);
  t.refuse(t.start - 3, "PROXY", kAck);
  t.refuse(t.start - 1, "data in a SYN", kSyn);
  EXPECT_EQ(balancer_.send_from_client(from_client(t.f, 41'000)).cause, drop_cause::kNoProxyHeader)
      << "a first SYN with data";
  EXPECT_EQ(broken_sums(balancer_.report()), std::vector<std::string>());
}

TEST_P(ProxyProtocol, the_backend_says_where_the_stream_begins) {
  ProxyTalk t(balancer_, GetParam(), 1'000);
  const uint32_t s = t.start;
  t.send(s, "hello", kAck, s, t.header + "hello");
  t.answer(kAck, s + t.bytes() + 5, s + 5);
  t.answer(kAck | kSyn, 0x40000000, 0x40000000);
  t.send(0x40000000, "again", kAck, 0x40000000, t.header + "again");
}

// Segments of any place and length, some lost, acknowledgements of any part of what has come.
TEST_P(ProxyProtocol, any_segments_with_any_losses_make_one_stream_behind_one_header) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    TestBalancer balancer(proxy_config());
    ProxyTalk t(balancer, GetParam(), static_cast<uint32_t>(random()));
    const uint32_t n = t.bytes();
    std::string data(1'500, 0);
    for (char& byte : data) byte = static_cast<char>(random());
    std::vector<std::optional<char>> received(n + data.size());
    size_t acknowledged = 0;  // of header and data
    const auto arrived = [&] {
      size_t count = 0;
      while (count < received.size() && received[count]) ++count;
      return count;
    };
    for (size_t turn = 0; turn < 10'000 && acknowledged < received.size(); ++turn) {
      if (random() % 3 == 0) {
        acknowledged += random() % (arrived() - acknowledged + 1);
        const size_t client = acknowledged <= n ? 0 : acknowledged - n;
        t.answer(kAck, t.start + static_cast<uint32_t>(acknowledged),
                 t.start + static_cast<uint32_t>(client));
        continue;
      }
      const size_t first = acknowledged <= n ? 0 : acknowledged - n;
      const size_t from = random() % 3 == 0 ? first : random() % data.size();
      const std::string part = data.substr(from, random() % 200);
      const bool has_header = acknowledged < n && from == 0 && !part.empty();
      const bool is_shifted = from != 0 || acknowledged >= n;
      const auto place = static_cast<uint32_t>(from + (is_shifted ? n : 0));
      const std::string whole = has_header ? t.header + part : part;
      t.send(t.start + static_cast<uint32_t>(from), part, kAck, t.start + place, whole);
      if (random() % 4 == 0) continue;  // lost behind us
      for (size_t i = 0; i < whole.size(); ++i) received[place + i] = whole[i];
    }
    std::string stream;
    for (const std::optional<char>& byte : received) stream += byte.value_or('?');
    EXPECT_EQ(stream, t.header + data);
    EXPECT_TRUE(balancer.state().audit());
    EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace roost::lb

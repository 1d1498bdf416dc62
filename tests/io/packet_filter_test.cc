// Filters admit what tcpdump's would, whatever the bytes, and what is none is refused.
#include "roost/io/packet_filter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace roost::io {
namespace {

// An Ethernet header, then IPv4 without options, 198.51.100.1:1024 -> 192.0.2.2:80, TCP.
std::vector<uint8_t> tcp_frame() {
  return {2, 0,  0, 0, 0,  2, 2, 0, 0,   0,  0,    1, 8,   0, 0x45, 0, 0, 40,
          0, 0,  0, 0, 64, 6, 0, 0, 198, 51, 100,  1, 192, 0, 2,    2, 4, 0,
          0, 80, 0, 0, 0,  0, 0, 0, 0,   0,  0x50, 2, 0,   0, 0,    0, 0, 0};
}

TEST(PacketFilter, admits_what_tcpdump_would) {
  const std::vector<uint8_t> frame = tcp_frame();
  const auto admits = [&frame](const char* expression) {
    auto filter = PacketFilter::compile(expression);
    EXPECT_TRUE(filter) << expression;
    return filter.value().admits(frame, static_cast<uint32_t>(frame.size()));
  };
  for (const char* expression :
       {"", "tcp", "host 192.0.2.2", "src host 198.51.100.1 and dst port 80", "not udp",
        "ether src 02:00:00:00:00:01", "net 192.0.2.0/24", "tcp[tcpflags] & tcp-syn != 0"}) {
    EXPECT_TRUE(admits(expression)) << expression;
  }
  for (const char* expression :
       {"udp", "host 192.0.2.3", "src port 80", "ip6", "vlan", "arp", "greater 1000"}) {
    EXPECT_FALSE(admits(expression)) << expression;
  }
}

TEST(PacketFilter, bytes_that_are_not_there_match_nothing) {
  auto filter = PacketFilter::compile("dst port 80");
  ASSERT_TRUE(filter);
  const std::vector<uint8_t> frame = tcp_frame();
  for (size_t bytes = 0; bytes < 38; ++bytes) {
    const std::vector<uint8_t> cut(frame.begin(), frame.begin() + static_cast<ptrdiff_t>(bytes));
    EXPECT_FALSE(filter.value().admits(cut, 54)) << bytes;
  }
  EXPECT_TRUE(filter.value().admits(std::span(frame).first(38), 54));
}

TEST(PacketFilter, the_length_is_the_whole_frames) {
  auto filter = PacketFilter::compile("greater 1000");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter.value().admits(tcp_frame(), 1'500));
}

TEST(PacketFilter, what_is_no_filter_is_refused_in_words) {
  for (const char* expression : {"hots 192.0.2.1", "host", "port 99999", "(tcp", "tcp or"}) {
    auto filter = PacketFilter::compile(expression);
    ASSERT_FALSE(filter) << expression;
    EXPECT_NE(filter.error().message.find(expression), std::string::npos);
    EXPECT_NE(filter.error().message.find("pcap-filter(7)"), std::string::npos);
  }
}

}  // namespace
}  // namespace roost::io

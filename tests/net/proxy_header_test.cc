// A PROXY header in front of a segment's data, byte by byte as another program (scapy) makes such a
// segment, and changes of a TCP header.
#include "roost/net/proxy_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "roost/net/tcp_edit.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

using SegmentBytes = std::vector<uint8_t>;

// An odd number of bytes behind options and with an urgent pointer, alone and behind the header.
const SegmentBytes kUrgent4 = {2,    0,    0,    0,    0, 1,    2,    0,    0,    0,    1,    0x10,
                               8,    0,    0x45, 0,    0, 0x37, 0x12, 0x34, 0x40, 0,    0x40, 6,
                               0x3b, 0xff, 0xc0, 0,    2, 0xa,  0xc6, 0x33, 0x64, 0x50, 0x9c, 0x40,
                               0,    0x50, 0,    0,    3, 0xe9, 0,    0,    0x13, 0x89, 0x80, 0x38,
                               0x10, 0,    1,    0x8c, 0, 3,    1,    1,    8,    0xa,  0,    0,
                               0,    7,    0,    0,    0, 9,    0x61, 0x62, 0x63};
const SegmentBytes kUrgentBehindHeader4 = {
    2,    0,   0,    0,    0,    1,    2,    0,    0,    0,    1,    0x10, 8,    0,
    0x45, 0,   0,    0x53, 0x12, 0x34, 0x40, 0,    0x40, 6,    0x3b, 0xe3, 0xc0, 0,
    2,    0xa, 0xc6, 0x33, 0x64, 0x50, 0x9c, 0x40, 0,    0x50, 0,    0,    3,    0xe9,
    0,    0,   0x13, 0x89, 0x80, 0x38, 0x10, 0,    0x89, 0x51, 0,    0x1f, 1,    1,
    8,    0xa, 0,    0,    0,    7,    0,    0,    0,    9,    0xd,  0xa,  0xd,  0xa,
    0,    0xd, 0xa,  0x51, 0x55, 0x49, 0x54, 0xa,  0x21, 0x11, 0,    0xc,  0xc0, 0,
    2,    0xa, 0xc6, 0x33, 0x64, 0x50, 0x9c, 0x40, 0,    0x50, 0x61, 0x62, 0x63};
const SegmentBytes kUrgent6 = {
    2, 0,    0,   0, 0,    1,    2,    0,    0,    0,    1,    0x10, 0x86, 0xdd, 0x60,
    0, 0,    0,   0, 0x23, 6,    0x40, 0x20, 1,    0xd,  0xb8, 0,    1,    0,    0,
    0, 0,    0,   0, 0,    0,    0,    0x10, 0x20, 1,    0xd,  0xb8, 0xff, 0xff, 0,
    0, 0,    0,   0, 0,    0,    0,    0,    0x80, 0x9c, 0x40, 0,    0x50, 0,    0,
    3, 0xe9, 0,   0, 0x13, 0x89, 0x80, 0x38, 0x10, 0,    0x92, 0x17, 0,    3,    1,
    1, 8,    0xa, 0, 0,    0,    7,    0,    0,    0,    9,    0x61, 0x62, 0x63};
const SegmentBytes kUrgentBehindHeader6 = {
    2,    0,    0,    0,    0,    1,    2,    0,    0,   0,    1,    0x10, 0x86, 0xdd, 0x60, 0,
    0,    0,    0,    0x57, 6,    0x40, 0x20, 1,    0xd, 0xb8, 0,    1,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0x10, 0x20, 1,    0xd, 0xb8, 0xff, 0xff, 0,    0,    0,    0,
    0,    0,    0,    0,    0,    0x80, 0x9c, 0x40, 0,   0x50, 0,    0,    3,    0xe9, 0,    0,
    0x13, 0x89, 0x80, 0x38, 0x10, 0,    0xaa, 0x10, 0,   0x37, 1,    1,    8,    0xa,  0,    0,
    0,    7,    0,    0,    0,    9,    0xd,  0xa,  0xd, 0xa,  0,    0xd,  0xa,  0x51, 0x55, 0x49,
    0x54, 0xa,  0x21, 0x21, 0,    0x24, 0x20, 1,    0xd, 0xb8, 0,    1,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0x10, 0x20, 1,    0xd, 0xb8, 0xff, 0xff, 0,    0,    0,    0,
    0,    0,    0,    0,    0,    0x80, 0x9c, 0x40, 0,   0x50, 0x61, 0x62, 0x63};

constexpr Endpoint4 kProxied4 = {{{192, 0, 2, 10}}, 40'000};
constexpr Endpoint4 kProxying4 = {{{198, 51, 100, 80}}, 80};
constexpr Endpoint6 kProxied6 = {{{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10}},
                                 40'000};
constexpr Endpoint6 kProxying6 = {
    {{0x20, 1, 0xd, 0xb8, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}}, 80};

// The first segment afterwards, whose last `cut_bytes` are in another one.
template <class Address>
SegmentBytes with_header(const SegmentBytes& bytes, const Endpoint<Address>& source,
                         const Endpoint<Address>& destination, size_t cut_bytes) {
  constexpr uint32_t kBytes = kProxyHeaderBytes<Address>;
  TestFrame frame(bytes, {kBytes, static_cast<uint32_t>(bytes.size() - cut_bytes)});
  ParsedPacket parsed;
  EXPECT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
  insert_proxy_header(frame.packet, parsed, source, destination);
  EXPECT_EQ(frame.packet.headroom, 0U);
  EXPECT_EQ(frame.packet.total_bytes, bytes.size() + kBytes);
  ParsedPacket again;
  EXPECT_EQ(parse(frame.packet, again), ParseVerdict::kOk);
  EXPECT_EQ(parsed.ip_bytes, again.ip_bytes);
  EXPECT_EQ(parsed.l4_bytes, again.l4_bytes);
  return frame.bytes();
}

TEST(proxy_header, is_in_front_of_the_data_and_whole_segments_are_right) {
  for (const size_t cut : {0U, 2U, 3U}) {
    const auto cut_off = [&](SegmentBytes bytes) {
      bytes.resize(bytes.size() - cut);
      return bytes;
    };
    EXPECT_EQ(with_header(kUrgent4, kProxied4, kProxying4, cut), cut_off(kUrgentBehindHeader4));
    EXPECT_EQ(with_header(kUrgent6, kProxied6, kProxying6, cut), cut_off(kUrgentBehindHeader6));
  }
}

// The options of kUrgent4 are its bytes 54 to 65.
TEST(tcp_edit, passes_options_wherever_they_are_and_ends_before_broken_ones) {
  using Found = std::vector<std::pair<int, size_t>>;
  const auto found = [](const SegmentBytes& options) {
    SegmentBytes bytes = kUrgent4;
    std::copy(options.begin(), options.end(), bytes.begin() + 54);
    const TestFrame frame(bytes);
    ParsedPacket parsed;
    EXPECT_EQ(parse(frame.packet, parsed), ParseVerdict::kOk);
    Found all;
    TcpEdit(frame.packet, parsed).for_each_option([&](uint8_t kind, size_t at, size_t length) {
      all.emplace_back(kind, at);
      EXPECT_LE(at + length, 32U);
    });
    return all;
  };
  EXPECT_EQ(found({1, 2, 4, 5, 6, 4, 2, 1, 34, 2, 1, 1}), (Found{{2, 23}, {4, 27}, {34, 30}}));
  EXPECT_EQ(found({2, 4, 5, 6, 0, 4, 2, 1, 1, 1, 1, 1}), (Found{{2, 22}})) << "it says the end";
  EXPECT_EQ(found({2, 4, 5, 6, 5, 0, 4, 2, 1, 1, 1, 1}), (Found{{2, 22}})) << "no length at all";
  EXPECT_EQ(found({2, 4, 5, 6, 5, 10, 0, 0, 0, 1, 0, 0}), (Found{{2, 22}})) << "beyond the header";
  EXPECT_EQ(found({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5}), Found()) << "without a length";
}

}  // namespace
}  // namespace roost::net

// Multicast listener discovery on frames that Scapy made: what is read from queries, that reports
// are the same bytes, and what is refused where the standards say so.
#include <gtest/gtest.h>

#include "roost/net/frame_header.h"
#include "roost/net/multicast_listener.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/parse.h"
#include "tests/net/message_frames.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

using Kind = ListenerRecord::Kind;

const Ipv6Address kGroup = {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 1}};
const Ipv6Address kOther = {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 0x80}};
const MacAddress kReporterMac = {{2, 0, 0, 0, 0, 1}};

std::optional<ListenerQuery> query_of(const Bytes& frame) {
  TestFrame test(frame);
  ParsedPacket parsed;
  if (parse(test.packet, parsed) != ParseVerdict::kUnsupportedProtocol) return {};
  return parse_listener_query(test.packet, parsed);
}

Bytes altered(Bytes frame, size_t at, uint8_t value) {
  frame[at] = value;
  mend_checksum(frame, kListenerIcmp6At);
  return frame;
}

TEST(ListenerQuery, of_both_versions_is_read) {
  EXPECT_EQ(query_of(kQuery1), (ListenerQuery{true, {}, 10'000}));
  EXPECT_EQ(query_of(kQuery2), (ListenerQuery{false, {}, 10'000}));
  EXPECT_EQ(query_of(kGroupQuery), (ListenerQuery{true, kGroup, 1'000}));
}

// RFC 3810 section 5.1.3; in version 1 the field is a plain number.
TEST(ListenerQuery, has_long_times_with_an_exponent_in_version_2) {
  Bytes frame = altered(kQuery2, kListenerIcmp6At + 4, 0x80);
  EXPECT_EQ(query_of(altered(frame, kListenerIcmp6At + 5, 0))->response_ms_max, 0x1000U << 3);
  frame = altered(kQuery2, kListenerIcmp6At + 4, 0xff);
  EXPECT_EQ(query_of(altered(frame, kListenerIcmp6At + 5, 0xff))->response_ms_max, 0x1fffU << 10);
  EXPECT_EQ(query_of(altered(kQuery1, kListenerIcmp6At + 4, 0xff))->response_ms_max, 0xff10U);
}

TEST(ListenerQuery, that_the_standard_says_to_discard_is_refused) {
  EXPECT_FALSE(query_of(altered(kQuery1, 21, 2))) << "hop limit";
  EXPECT_FALSE(query_of(altered(kQuery1, 22, 0x20))) << "not from a link-local address";
  EXPECT_FALSE(query_of(altered(kQuery1, kHopByHopAt + 2, 0x1e))) << "no router alert";
  EXPECT_FALSE(query_of(altered(kQuery1, kHopByHopAt + 5, 1))) << "a router alert for RSVP";
  EXPECT_FALSE(query_of(altered(kQuery1, kHopByHopAt + 3, 9))) << "an option beyond the header";
  EXPECT_FALSE(query_of(altered(kQuery1, kListenerIcmp6At, 131))) << "a report";
  EXPECT_FALSE(query_of(altered(kQuery1, kListenerIcmp6At + 8, 0xfe))) << "the group is none";
  Bytes wrong = kQuery1;
  wrong[kListenerIcmp6At + 2] ^= 1;
  EXPECT_FALSE(query_of(wrong)) << "checksum";
}

TEST(ListenerQuery, with_padding_before_the_router_alert_is_read) {
  Bytes padded = kQuery1;
  const Bytes options = {1, 0, 5, 2, 0, 0};
  std::copy(options.begin(), options.end(), padded.begin() + kHopByHopAt + 2);
  EXPECT_TRUE(query_of(padded));
  padded[kHopByHopAt + 2] = padded[kHopByHopAt + 3] = 0;
  EXPECT_TRUE(query_of(padded));
}

TEST(ListenerQuery, of_a_length_of_neither_version_is_refused) {
  for (const size_t bytes : {23U, 25U, 27U}) {
    Bytes frame = kQuery2;
    frame.resize(kListenerIcmp6At + bytes);
    frame[19] = static_cast<uint8_t>(8 + bytes);
    mend_checksum(frame, kListenerIcmp6At);
    EXPECT_FALSE(query_of(frame)) << bytes;
  }
}

TEST(ListenerQuery, without_hop_by_hop_options_is_refused) {
  Bytes frame = kQuery1;
  frame.erase(frame.begin() + kHopByHopAt, frame.begin() + kListenerIcmp6At);
  frame[19] = 24;
  frame[20] = 58;
  mend_checksum(frame);
  EXPECT_FALSE(query_of(frame));
}

Bytes framed(const Ipv6Address& destination, size_t bytes, auto&& write) {
  const FrameHeader header{.macs = {.source = kReporterMac, .destination = group_mac(destination)},
                           .vlan = {},
                           .ether_type = ethernet::kIpv6};
  Bytes frame(header.byte_count() + bytes, 0xee);
  write(write_frame_header(frame, header));
  return frame;
}

TEST(ListenerReport, is_what_scapy_writes) {
  const Ipv6Address source = link_local_address(kReporterMac);
  const ListenerRecord joined = {Kind::kJoined, kGroup};
  const ListenerRecord left = {Kind::kLeft, kGroup};
  const std::array records = {joined, ListenerRecord{Kind::kLeft, kOther}};
  EXPECT_EQ(framed(kAllListenerRouters, listener_report_bytes(2),
                   [&](auto to) { write_listener_report(to, source, records); }),
            kReport2);
  EXPECT_EQ(framed(listener_message_destination(joined), kListenerMessageBytes,
                   [&](auto to) { write_listener_message(to, source, joined); }),
            kReport1);
  EXPECT_EQ(framed(listener_message_destination(left), kListenerMessageBytes,
                   [&](auto to) { write_listener_message(to, source, left); }),
            kDone1);
}

}  // namespace
}  // namespace roost::net

// The TCP state machine row by row, and what its states and timeouts mean to a connection.
#include "roost/conntrack/connection.h"

#include <gtest/gtest.h>

namespace roost::conntrack {
namespace {

using enum ConnectionState;
using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;

TEST(connection_state, follows_a_connection_from_syn_to_close) {
  ConnectionState state = first_state(net::IpProtocol::kTcp, kSyn);
  EXPECT_EQ(state, kSynSent);
  state = next_state(state, Sender::kServer, kSyn | kAck);
  EXPECT_EQ(state, kSynReceived);
  state = next_state(state, Sender::kClient, kAck);
  EXPECT_EQ(state, kEstablished);
  state = next_state(state, Sender::kServer, kAck);
  EXPECT_EQ(state, kEstablished);
  state = next_state(state, Sender::kServer, kFin | kAck);
  EXPECT_EQ(state, kServerFinished);
  state = next_state(state, Sender::kClient, kAck);
  EXPECT_EQ(state, kServerFinished);
  state = next_state(state, Sender::kClient, kFin | kAck);
  EXPECT_EQ(state, kClosed);
  EXPECT_EQ(next_state(state, Sender::kServer, kAck), kClosed);
}

TEST(connection_state, one_side_alone_does_not_close) {
  for (const Sender sender : {Sender::kClient, Sender::kServer}) {
    ConnectionState state = next_state(kEstablished, sender, kFin);
    EXPECT_EQ(next_state(state, sender, kFin), state) << "a retransmitted FIN is one FIN";
    EXPECT_EQ(next_state(kEstablished, sender, kRst | kAck), kReset);
    EXPECT_EQ(next_state(kClosed, sender, kFin), kClosed);
  }
}

TEST(connection_state, a_handshake_needs_the_backend) {
  for (const uint8_t flags : {kAck, kFin, kSyn}) {
    EXPECT_EQ(next_state(kSynSent, Sender::kClient, flags), kSynSent);
  }
  EXPECT_EQ(next_state(kSynSent, Sender::kServer, kAck), kSynSent);
  EXPECT_EQ(first_state(net::IpProtocol::kTcp, kAck), kEstablished) << "begun before we came";
  EXPECT_EQ(first_state(net::IpProtocol::kTcp, kFin), kClientFinished);
  EXPECT_EQ(first_state(net::IpProtocol::kTcp, kSyn, true), kSynReceived) << "not seen, but there";
}

// The receiver of an RST may have reasons to ignore it.
TEST(connection_state, a_reset_is_undone_by_both_ends_speaking_on) {
  const std::array both = {Sender::kClient, Sender::kServer};
  for (const Sender first : both) {
    for (const Sender second : both) {
      ConnectionState state = next_state(kEstablished, Sender::kServer, kRst);
      EXPECT_EQ(state, kReset);
      state = next_state(state, first, kAck);
      EXPECT_TRUE(is_over(state, false));
      EXPECT_EQ(next_state(state, second, kRst), kReset);
      state = next_state(state, second, kAck);
      EXPECT_EQ(state == kEstablished, first != second);
    }
  }
}

TEST(connection_state, only_a_clients_syn_begins_anew) {
  EXPECT_TRUE(begins_anew(kClosed, kSyn));
  EXPECT_TRUE(begins_anew(kReset, kSyn));
  EXPECT_FALSE(begins_anew(kReset, kAck));
  EXPECT_FALSE(begins_anew(kClosed, kAck));
  EXPECT_FALSE(begins_anew(kClosed, kSyn | kFin));
  EXPECT_FALSE(begins_anew(kClientFinished, kSyn));
  EXPECT_FALSE(begins_anew(kUdp, 0));
  constexpr bool kIsReplyUnseen = true;
  EXPECT_TRUE(begins_anew(kClientFinished, kSyn, kIsReplyUnseen));
  EXPECT_FALSE(begins_anew(kClientFinished, kAck, kIsReplyUnseen));
  EXPECT_FALSE(begins_anew(kEstablished, kSyn, kIsReplyUnseen));
}

TEST(connection_state, udp_has_one) {
  EXPECT_EQ(first_state(net::IpProtocol::kUdp, 0), kUdp);
  EXPECT_EQ(next_state(kUdp, Sender::kServer, 0), kUdp);
}

}  // namespace
}  // namespace roost::conntrack

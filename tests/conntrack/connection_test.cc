// What a packet may change in a connection: nothing that its sender does not know the place of.
#include "roost/conntrack/connection.h"

#include <gtest/gtest.h>

#include <random>

namespace roost::conntrack {
namespace {

using net::TcpSegment;
using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;
using enum ConnectionState;

constexpr bool kIsReplyUnseen = true;
// Where the streams begin: one of them is about to wrap.
constexpr uint32_t kClientFirst = 0xffff'ff00;
constexpr uint32_t kBackendFirst = 0x1234'5678;

// A connection and what its ends say, each as its stream stands.
struct Talk {
  Connection connection{};
  uint32_t client_next = kClientFirst;
  uint32_t backend_next = kBackendFirst;

  void client(uint8_t flags, uint32_t bytes = 0) {
    connection.update(Sender::kClient, from_client(flags, bytes), !kIsReplyUnseen);
  }
  void backend(uint8_t flags, uint32_t bytes = 0) {
    const uint32_t length = bytes + length_of(flags);
    connection.update(Sender::kServer, {flags, backend_next, client_next, length}, !kIsReplyUnseen);
    backend_next += length;
  }
  TcpSegment from_client(uint8_t flags, uint32_t bytes = 0) {
    const TcpSegment segment = {flags, client_next, backend_next, bytes + length_of(flags)};
    client_next += segment.length;
    return segment;
  }
  static uint32_t length_of(uint8_t flags) { return (flags & (kSyn | kFin)) != 0 ? 1 : 0; }

  static Talk asked() {
    Talk talk;
    talk.connection.begin(net::IpProtocol::kTcp, talk.from_client(kSyn), !kIsReplyUnseen);
    return talk;
  }
  static Talk answered() {
    Talk talk = asked();
    talk.backend(kSyn | kAck);
    return talk;
  }
  static Talk established() {
    Talk talk = answered();
    talk.client(kAck);
    return talk;
  }
};

// How many of 2^24 places a packet of this sender can name and change the connection.
template <class Changes>
size_t places_that_change(const Connection& before, Sender sender, uint8_t flags, uint32_t sequence,
                          uint32_t acknowledgement, bool is_sequence_guessed, Changes&& changes) {
  size_t count = 0;
  for (uint32_t place = 0; place < uint32_t{1} << 24; ++place) {
    Connection connection = before;
    TcpSegment segment = {flags, sequence, acknowledgement, Talk::length_of(flags)};
    (is_sequence_guessed ? segment.sequence : segment.acknowledgement) = place << 8 | 0x80;
    connection.update(sender, segment, !kIsReplyUnseen);
    if (changes(connection)) ++count;
  }
  return count;
}

TEST(connection, is_assured_by_a_handshake) {
  Talk talk = Talk::asked();
  EXPECT_EQ(talk.connection.state, kSynSent);
  EXPECT_EQ(talk.connection.assurance, Assurance::kUnreplied);
  talk.backend(kSyn | kAck);
  EXPECT_EQ(talk.connection.state, kSynReceived);
  EXPECT_NE(talk.connection.flow_class(), FlowClass::kAssured);
  talk.client(kAck);
  EXPECT_EQ(talk.connection.state, kEstablished);
  EXPECT_EQ(talk.connection.flow_class(), FlowClass::kAssured);
}

TEST(connection, is_assured_by_the_acknowledgement_of_a_first_flight) {
  Talk talk = Talk::answered();
  const uint32_t acknowledged = talk.backend_next;
  talk.backend(kAck, 10 * 1'448);
  talk.connection.update(Sender::kClient, {kAck, talk.client_next, acknowledged, 0},
                         !kIsReplyUnseen);
  EXPECT_EQ(talk.connection.assurance, Assurance::kAssured);
}

TEST(connection, is_not_assured_by_guessing) {
  const Talk talk = Talk::answered();
  const auto is_assured = [](const Connection& c) { return c.assurance == Assurance::kAssured; };
  EXPECT_LE(places_that_change(talk.connection, Sender::kClient, kAck, talk.client_next, 0, false,
                               is_assured),
            65U);
  for (const uint8_t flags : {uint8_t{0}, kFin, uint8_t{kSyn | kAck}, uint8_t{kRst | kAck}}) {
    Connection connection = talk.connection;
    connection.update(Sender::kClient, {flags, talk.client_next, talk.backend_next, 0},
                      !kIsReplyUnseen);
    EXPECT_EQ(connection.assurance, Assurance::kSeenReply) << int{flags};
  }
}

// The client acknowledges before there is anything: the answer comes later, and is not its own.
TEST(connection, is_not_assured_before_the_answer) {
  Talk talk = Talk::asked();
  talk.client(kAck);
  talk.client(kAck, 100);
  EXPECT_EQ(talk.connection.state, kSynSent);
  talk.backend(kSyn | kAck);
  EXPECT_EQ(talk.connection.assurance, Assurance::kSeenReply);
  talk.backend(kAck);  // to a segment out of nowhere
  EXPECT_EQ(talk.connection.assurance, Assurance::kSeenReply);
}

TEST(connection, that_was_there_before_is_assured_by_its_backend) {
  Talk talk;
  talk.connection.begin(net::IpProtocol::kTcp, talk.from_client(kAck, 700), !kIsReplyUnseen);
  EXPECT_EQ(talk.connection.state, kEstablished);
  EXPECT_NE(talk.connection.flow_class(), FlowClass::kAssured);
  Connection refused = talk.connection;
  refused.update(Sender::kServer, {kRst, talk.backend_next, 0, 0}, !kIsReplyUnseen);
  EXPECT_EQ(refused.state, kReset);
  EXPECT_NE(refused.flow_class(), FlowClass::kAssured);
  talk.backend(kAck, 1'448);
  EXPECT_EQ(talk.connection.flow_class(), FlowClass::kAssured);
}

TEST(connection, is_not_reset_by_guessing) {
  Talk talk = Talk::established();
  talk.client(kAck, 100'000);
  talk.backend(kAck, 1'000'000);
  const auto is_gone = [](const Connection& c) { return is_reset(c.state); };
  for (const Sender sender : {Sender::kClient, Sender::kServer}) {
    EXPECT_LE(places_that_change(talk.connection, sender, kRst, 0, 0, true, is_gone), 65U);
    EXPECT_LE(places_that_change(talk.connection, sender, kRst, 0, 0, false, is_gone), 0U);
  }
  talk.client(kRst);
  EXPECT_EQ(talk.connection.state, kReset);
  EXPECT_EQ(talk.connection.flow_class(), FlowClass::kAssured) << "for as long as it is there";
  talk.client(kAck);
  talk.backend(kAck);
  EXPECT_EQ(talk.connection.state, kEstablished) << "no end had accepted the RST";
}

TEST(connection, is_reset_by_a_refused_syn) {
  Talk talk = Talk::asked();
  Connection other = talk.connection;
  other.update(Sender::kServer, {kRst | kAck, 0, talk.client_next + 100'000, 0}, !kIsReplyUnseen);
  EXPECT_EQ(other.state, kSynSent);
  talk.connection.update(Sender::kServer, {kRst | kAck, 0, talk.client_next, 0}, !kIsReplyUnseen);
  EXPECT_EQ(talk.connection.state, kReset);
  EXPECT_NE(talk.connection.flow_class(), FlowClass::kAssured);
}

TEST(connection, is_not_finished_by_guessing) {
  const Talk talk = Talk::established();
  std::mt19937 random(1);
  size_t finished = 0;
  constexpr size_t kGuesses = 1'000'000;
  for (size_t i = 0; i < kGuesses; ++i) {
    Connection connection = talk.connection;
    connection.update(
        Sender::kClient,
        {kFin | kAck, static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), 1},
        !kIsReplyUnseen);
    if (connection.state != kEstablished) ++finished;
  }
  EXPECT_LE(finished, 40U) << "about one in 130,000";
}

// Nothing that strangers send leads the streams away, so that the ends are believed afterwards.
TEST(connection, is_followed_whatever_strangers_send) {
  Talk talk = Talk::established();
  std::mt19937 random(2);
  for (size_t i = 0; i < 10'000; ++i) {
    talk.connection.update(
        Sender::kClient,
        {kAck, static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), 1'448},
        !kIsReplyUnseen);
    if (i % 2 == 0) talk.client(kAck, 5'000);
    talk.backend(kAck, 50'000);
  }
  EXPECT_EQ(talk.connection.state, kEstablished);
  talk.backend(kFin | kAck);
  EXPECT_EQ(talk.connection.state, kServerFinished);
  talk.client(kFin | kAck);
  EXPECT_EQ(talk.connection.state, kClosed);
}

// Ten megabytes passed by another way: the backend says where the client is.
TEST(connection, is_found_again_by_what_the_backend_acknowledges) {
  Talk talk = Talk::established();
  talk.client_next += 10'000'000;
  talk.backend_next += 200'000'000;
  talk.client(kAck, 1'448);  // not believed
  talk.backend(kAck, 1'448);
  talk.client(kFin | kAck);
  EXPECT_EQ(talk.connection.state, kClientFinished);
}

// The client of a fast download acknowledges far behind what has passed here.
TEST(connection, is_finished_by_a_client_that_is_far_behind) {
  Talk talk = Talk::established();
  const uint32_t acknowledged = talk.backend_next;
  for (size_t i = 0; i < 1'000; ++i) talk.backend(kAck, 60'000);
  talk.connection.update(Sender::kClient, {kFin | kAck, talk.client_next, acknowledged, 1},
                         !kIsReplyUnseen);
  EXPECT_EQ(talk.connection.state, kClientFinished);
}

TEST(connection, attempts_again_with_another_syn) {
  Talk talk = Talk::asked();
  talk.client_next = 0x4000'0000;
  talk.client(kSyn);
  talk.backend(kSyn | kAck);
  talk.client(kAck);
  EXPECT_EQ(talk.connection.flow_class(), FlowClass::kAssured);
  const Connection before = talk.connection;
  talk.client_next = 0x7000'0000;
  talk.client(kSyn);
  EXPECT_EQ(talk.connection.state, before.state) << "the backend sends a challenge ACK";
  EXPECT_EQ(talk.connection.client_position, before.client_position);
}

// The client has begun anew with another number, and only the backend can say so.
TEST(connection, begins_anew_once_the_backend_accepts_another_syn) {
  for (const uint32_t client_first : {0x4000'0000U, 0xd000'0000U}) {  // ahead of it, and behind
    Talk received = Talk::answered();
    Talk finished = Talk::established();
    finished.client(kFin | kAck);
    Talk left = Talk::established();
    left.backend(kFin | kAck);
    for (Talk talk : {received, Talk::established(), finished, left}) {
      SCOPED_TRACE(connection_state_name(talk.connection.state));
      const ConnectionState before = talk.connection.state;
      talk.client_next = client_first;
      talk.backend_next = 0x6000'0000;
      talk.client(kSyn);
      EXPECT_EQ(talk.connection.state, before);
      talk.backend(kSyn | kAck);
      EXPECT_EQ(talk.connection.state, kSynReceived);
      EXPECT_EQ(talk.connection.flow_class(), FlowClass::kSeenReply);
      talk.client(kAck);
      EXPECT_EQ(talk.connection.state, kEstablished);
      EXPECT_EQ(talk.connection.flow_class(), FlowClass::kAssured);
    }
  }
}

TEST(connection, goes_on_when_the_backend_accepts_its_syn_again) {
  Talk talk = Talk::established();
  talk.client(kAck, 10 * 1'448);  // a first flight; the ACK in front of it was lost
  const TcpSegment again = {kSyn | kAck, kBackendFirst, kClientFirst + 1, 1};
  talk.connection.update(Sender::kServer, again, !kIsReplyUnseen);
  EXPECT_EQ(talk.connection.state, kEstablished);
  EXPECT_EQ(talk.connection.flow_class(), FlowClass::kAssured);
  const auto speak = [&](uint8_t flags) {
    talk.connection.update(Sender::kServer, {flags, kBackendFirst, 0x4000'0000, 1},
                           !kIsReplyUnseen);
    return talk.connection.state;
  };
  EXPECT_EQ(speak(kSyn), kEstablished) << "acknowledges nothing";
  EXPECT_EQ(speak(kAck), kEstablished);
  EXPECT_EQ(speak(kSyn | kAck | kRst), kReset);
}

TEST(connection, of_udp_is_assured_by_the_fourth_packet_of_its_client) {
  for (const bool is_reply_unseen : {false, true}) {
    Connection connection;
    connection.begin(net::IpProtocol::kUdp, {}, is_reply_unseen);
    for (size_t packet = 2; packet <= 4; ++packet) {
      EXPECT_NE(connection.flow_class(), FlowClass::kAssured) << packet;
      if (!is_reply_unseen) connection.update(Sender::kServer, {}, is_reply_unseen);
      connection.update(Sender::kClient, {}, is_reply_unseen);
    }
    EXPECT_EQ(connection.flow_class(), FlowClass::kAssured);
  }
  Connection unanswered;
  unanswered.begin(net::IpProtocol::kUdp, {}, !kIsReplyUnseen);
  for (size_t i = 0; i < 100; ++i) unanswered.update(Sender::kClient, {}, !kIsReplyUnseen);
  EXPECT_NE(unanswered.flow_class(), FlowClass::kAssured);
}

TEST(connection, whose_backend_is_not_seen_is_followed_by_its_client) {
  Connection connection;
  connection.begin(net::IpProtocol::kTcp, {kSyn, 1'000'000, 0, 1}, kIsReplyUnseen);
  EXPECT_EQ(connection.state, kSynReceived);
  connection.update(Sender::kClient, {kAck, 1'000'001, 77, 500}, kIsReplyUnseen);
  connection.update(Sender::kClient, {kAck, 1'000'501, 77, 500}, kIsReplyUnseen);
  EXPECT_NE(connection.flow_class(), FlowClass::kAssured);
  connection.update(Sender::kClient, {kAck, 1'001'001, 77, 500}, kIsReplyUnseen);
  EXPECT_EQ(connection.flow_class(), FlowClass::kAssured);
  EXPECT_EQ(connection.state, kEstablished);
  connection.update(Sender::kClient, {kRst, 500'000'000, 0, 0}, kIsReplyUnseen);
  EXPECT_EQ(connection.state, kEstablished);
  connection.update(Sender::kClient, {kRst, 1'001'501, 0, 0}, kIsReplyUnseen);
  EXPECT_EQ(connection.state, kReset);
}

}  // namespace
}  // namespace roost::conntrack

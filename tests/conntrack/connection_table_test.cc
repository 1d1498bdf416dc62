// The connection table of a router that translates what its clients send, and has connections of
// its own from the same address.
#include "roost/conntrack/connection_table.h"

#include <gtest/gtest.h>

#include <utility>

#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/timeouts.h"

namespace roost::conntrack {
namespace {

using net::FlowKey4;

constexpr uint16_t kOwn = 0;         // of the router itself
constexpr uint16_t kTranslated = 1;  // of a client behind it

struct RouterReplies {
  using Address = net::Ipv4Address;
  using Endpoint = net::Endpoint4;

  uint64_t turn = 0;

  [[nodiscard]] Replies replies_of(const Connection& connection) const {
    return connection.owner == kTranslated ? Replies::kToBoundPort : Replies::kToClient;
  }
  [[nodiscard]] Endpoint server_of(const FlowKey4& key, const Connection&) const {
    return {key.destination, key.destination_port};
  }
  [[nodiscard]] uint32_t owner_of(const Connection& connection) const { return connection.owner; }
  [[nodiscard]] Endpoint destination_of(const FlowKey4& reply_key, uint32_t) const {
    return {reply_key.source, reply_key.source_port};
  }
  [[nodiscard]] uint64_t next_turn(const Connection&) { return turn++; }
  void over(const Connection&) const {}
};

const StateTimeouts kTimeouts = default_timeouts(1);  // a tick is a second
constexpr uint64_t kUdpSeconds = 60;
constexpr net::Ipv4Address kRouter = {{203, 0, 113, 1}};
constexpr uint16_t kPort = 5'000;
constexpr net::Endpoint4 kServer = {{{198, 51, 100, 53}}, 53};

FlowKey4 query_from(net::Ipv4Address source, uint16_t port) {
  return {source, kServer.address, port, kServer.port, net::IpProtocol::kUdp, {}};
}

// The router uses a port that is bound for a client's connection: it has to wait until that is
// gone, and the binding with it.
TEST(connection_table, a_bound_port_is_no_others_before_its_connection_is_reclaimed) {
  constexpr uint64_t kConnections = 16;
  auto made = ConnectionTable<RouterReplies>::create(
      {.connections = kConnections,
       .hash_seed = 7,
       .ports = {.addresses = {kRouter}, .first_port = kPort, .last_port = kPort}},
      {});
  ASSERT_TRUE(made.ok());
  auto& table = made.value();
  const auto create = [&](const FlowKey4& key, uint16_t owner) {
    Connection connection{.owner = owner};
    connection.begin(key.protocol, {}, false);
    return table.create_connection(key, connection, kTimeouts);
  };
  const FlowKey4 clients = query_from({{10, 0, 0, 2}}, 40'000);
  const FlowKey4 own = query_from(kRouter, kPort);
  const FlowKey4 answer = own.reversed();
  Tick now{};
  // As often as would use up all bindings, if one were lost each time.
  for (uint64_t round = 0; round < 2 * kConnections; ++round) {
    SCOPED_TRACE(round);
    ASSERT_EQ(create(clients, kTranslated), CreateOutcome::kCreated);
    uint32_t& note = table.note_of(clients, *table.find(clients).connection);
    EXPECT_EQ(std::exchange(note, UINT32_MAX), 0U) << "nobody else's";
    EXPECT_EQ(table.find(answer).client, (net::Endpoint4{clients.source, clients.source_port}));
    EXPECT_EQ(create(own, kOwn), CreateOutcome::kReplyTupleTaken);
    now.count += kUdpSeconds + 1;
    table.advance(now);
    EXPECT_EQ(table.find(answer).connection, nullptr) << "it has expired";
    EXPECT_EQ(create(own, kOwn), CreateOutcome::kReplyTupleTaken) << "and keeps its port";
    table.settle();
    ASSERT_TRUE(table.audit());
    ASSERT_EQ(create(own, kOwn), CreateOutcome::kCreated);
    EXPECT_EQ(table.find(answer).client, (net::Endpoint4{kRouter, kPort}));
    table.end(own, *table.find(own).connection);
    ASSERT_TRUE(table.audit());
  }
}

// It was there for fifteen minutes more; the attempt that takes its place has what a SYN gets.
TEST(connection_table, a_connection_that_begins_anew_has_the_time_of_a_syn) {
  using net::tcp::kAck;
  using net::tcp::kSyn;
  auto made = ConnectionTable<SameEnds<net::Ipv4Address>>::create({.connections = 16}, {});
  ASSERT_TRUE(made.ok());
  auto& table = made.value();
  FlowKey4 key = query_from({{10, 0, 0, 2}}, 40'000);
  key.protocol = net::IpProtocol::kTcp;
  Connection first;
  first.begin(key.protocol, {kSyn, 1'000, 0, 1}, false);
  ASSERT_EQ(table.create_connection(key, first, kTimeouts), CreateOutcome::kCreated);
  Connection& connection = *table.find(key).connection;
  table.update(connection, Sender::kServer, net::TcpSegment{kSyn | kAck, 5'000, 1'001, 1},
               kTimeouts);
  table.update(connection, Sender::kClient, net::TcpSegment{kAck, 1'001, 5'001, 0}, kTimeouts);
  EXPECT_EQ(table.ticks_left(connection),
            kTimeouts[static_cast<size_t>(ConnectionState::kEstablished)]);
  table.update(connection, Sender::kServer, net::TcpSegment{kSyn | kAck, 9'000'000, 8'000'001, 1},
               kTimeouts);
  EXPECT_EQ(table.ticks_left(connection),
            kTimeouts[static_cast<size_t>(ConnectionState::kSynSent)]);
}

}  // namespace
}  // namespace roost::conntrack

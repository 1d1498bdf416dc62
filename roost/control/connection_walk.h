// What the control thread asks of a worker about its connections: those that a filter admits,
// listed by pages, counted or deleted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roost/conntrack/connection.h"
#include "roost/conntrack/connection_table.h"
#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/node/mailbox.h"
#include "roost/table/cursor.h"

namespace roost::control {

struct ConnectionFilter {
  // Of each family (0 IPv4, 1 IPv6), by owner: which are meant. As large as the highest owner.
  std::array<std::vector<bool>, 2> owners{};
  std::array<bool, conntrack::kConnectionStateCount> states{};
  std::array<bool, conntrack::kFlowClassCount> classes{};
  std::optional<net::IpPrefix> client{};
};

// The ends that the client's packets have.
struct ConnectionRow {
  net::IpAddress client{};
  net::IpAddress destination{};
  uint16_t client_port = 0;
  uint16_t destination_port = 0;
  net::IpProtocol protocol{};
  uint32_t owner = 0;
  conntrack::ConnectionState state{};
  conntrack::FlowClass flow_class{};
  std::optional<net::IpAddress> bound_address{};  // with which its server speaks, if it is bound
  uint16_t bound_port = 0;

  [[nodiscard]] size_t family() const { return client.is_ipv6() ? 1 : 0; }
};

// Where a walk over a worker's connections is: IPv4 first, then IPv6.
struct ConnectionPlace {
  size_t family = 0;  // 2: at the end
  uint64_t slot = 0;

  [[nodiscard]] bool is_end() const { return family == 2; }
};

enum class ConnectionAction : uint8_t { kList, kCount, kDelete };

// A walk, whatever the tables are. It has all the memory that it needs before it is posted.
class ConnectionWalk : public node::Request {
 public:
  struct Config {
    ConnectionAction action = ConnectionAction::kList;
    const ConnectionFilter* filter = nullptr;  // must outlive the request
    ConnectionPlace place{};
    size_t rows_max = 0;  // to be listed; at least kRowsMin
  };
  static constexpr size_t kRowsMin = 8;  // as many as a bucket holds at most

  explicit ConnectionWalk(const Config& config);
  bool step() final;

  ConnectionPlace place;              // where it stopped
  std::vector<ConnectionRow> rows{};  // listed
  uint64_t matched = 0;               // listed, counted or deleted
  uint64_t visited = 0;
  // Counted: by family, then owner and state.
  std::array<std::vector<std::array<uint64_t, conntrack::kConnectionStateCount>>, 2> counts{};
  std::array<uint64_t, conntrack::kFlowClassCount> class_counts{};

 protected:
  // Walks one bucket of the place's family from `cursor` on; false at the family's end.
  virtual bool walk_bucket(Cursor& cursor) = 0;

  template <class Table>
  bool walk_table(Table& table, Cursor& cursor) {
    static_assert(Table::kWalkBucketConnectionsMax <= kRowsMin);
    return table.walk(cursor, 1, [&](const auto& key, const conntrack::Connection& connection) {
      ++visited;
      if (!admits(key.source, connection)) return false;
      ++matched;
      if (config_.action == ConnectionAction::kCount) count(place.family, connection);
      if (config_.action == ConnectionAction::kList) rows.push_back(row_of(table, key, connection));
      return config_.action == ConnectionAction::kDelete;
    });
  }

 private:
  // A bucket is a cache line or two that are in no cache: some microseconds a turn.
  static constexpr int kBucketsAStep = 64;

  template <class Table, class Key>
  static ConnectionRow row_of(const Table& table, const Key& key,
                              const conntrack::Connection& connection) {
    ConnectionRow row{.client = key.source,
                      .destination = key.destination,
                      .client_port = key.source_port,
                      .destination_port = key.destination_port,
                      .protocol = key.protocol,
                      .owner = static_cast<uint32_t>(connection.owner),
                      .state = connection.state,
                      .flow_class = connection.flow_class()};
    if (const auto bound = table.find_bound_end(connection)) {
      row.bound_address = net::address_of_key(bound->address);
      row.bound_port = bound->port;
    }
    return row;
  }
  [[nodiscard]] bool admits(const net::IpAddress& client,
                            const conntrack::Connection& connection) const;
  void count(size_t family, const conntrack::Connection& connection);
  bool walk_next_bucket();

  Config config_;
  bool is_page_full_ = false;
};

// A walk over a table of IPv4's.
template <class Table>
class Ipv4Walk final : public ConnectionWalk {
 public:
  Ipv4Walk(Table& table, const Config& config) : ConnectionWalk(config), table_(table) {}

 private:
  bool walk_bucket(Cursor& cursor) override {
    return place.family == 0 && walk_table(table_, cursor);
  }

  Table& table_;
};

// A walk over what a conntrack::Tracker has.
template <class Tracker>
class TrackerWalk final : public ConnectionWalk {
 public:
  TrackerWalk(const Tracker& tracker, const Config& config)
      : ConnectionWalk(config), tracker_(tracker) {}

 private:
  bool walk_bucket(Cursor& cursor) override {
    return place.family == 0 ? walk_table(tracker_.ipv4().connections(), cursor)
                             : walk_table(tracker_.ipv6().connections(), cursor);
  }

  Tracker tracker_;
};

}  // namespace roost::control

// Connections listed, counted and deleted by filters, as a function with the same ends both ways
// has them: what is said agrees with a plain list of what was created.
#include "roost/control/connection_commands.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "roost/conntrack/tracker_impl.h"

namespace roost::control {
namespace {

using conntrack::Connection;
using conntrack::SameEnds;
using Tracker4 = conntrack::FamilyTracker<SameEnds<net::Ipv4Address>>;
using Tracker6 = conntrack::FamilyTracker<SameEnds<net::Ipv6Address>>;

constexpr size_t kWorkers = 2;
constexpr uint32_t kOwners = 3;  // rules, of a firewall
constexpr int kConnections = 20'000;
constexpr int kClients = 5;

struct Created {
  size_t worker = 0;
  std::string client{};  // the address alone
  std::string ends{};
  uint32_t owner = 0;
  Connection connection{};
};

class Connections : public testing::Test {
 protected:
  Connections() {
    for (size_t worker = 0; worker < kWorkers; ++worker) {
      ipv4_.push_back(Tracker4::create({.connections = 30'000, .hash_seed = 1}, {}).value());
      ipv6_.push_back(Tracker6::create({.connections = 30'000, .hash_seed = 1}, {}).value());
    }
    for (int i = 0; i < kConnections; ++i) {
      const size_t worker = draw(kWorkers);
      if (draw(2) == 0) {
        create<net::Ipv4Address>(ipv4_[worker], worker, "192.0.2.", "198.51.100.1", i);
      } else {
        create<net::Ipv6Address>(ipv6_[worker], worker, "2001:db8::", "2001:db8:f::1", i);
      }
    }
  }

  uint32_t draw(size_t below) { return static_cast<uint32_t>(random_() % below); }

  template <class Address, class Tracker>
  void create(Tracker& tracker, size_t worker, const std::string& network,
              const std::string& destination, int number) {
    const auto client = Address::parse(network + std::to_string(1 + draw(kClients))).value();
    const auto port = static_cast<uint16_t>(1'024 + number);
    const auto protocol = draw(2) == 0 ? net::IpProtocol::kTcp : net::IpProtocol::kUdp;
    const net::FlowKey<Address> key{
        client, Address::parse(destination).value(), port, 443, protocol, {}};
    Connection connection{.owner = static_cast<uint16_t>(draw(kOwners))};
    connection.begin(protocol, {net::tcp::kSyn, 1, 0, 1}, false);
    if (draw(2) == 0) {
      connection.update(conntrack::Sender::kServer, {net::tcp::kSyn | net::tcp::kAck, 1, 2, 1},
                        false);
    }
    ASSERT_EQ(tracker.connections().create_connection(key, connection, timeouts_),
              conntrack::CreateOutcome::kCreated);
    created_.push_back({worker, client.format(),
                        net::endpoint_text(client, port) + " " +
                            net::endpoint_text(key.destination, key.destination_port),
                        static_cast<uint32_t>(connection.owner), connection});
  }

  ConnectionSource source() {
    return {
        .worker_count = kWorkers,
        .walk = [this](size_t worker,
                       const ConnectionWalk::Config& config) -> std::unique_ptr<ConnectionWalk> {
          const conntrack::Tracker tracker(ipv4_[worker], ipv6_[worker]);
          return std::make_unique<TrackerWalk<conntrack::Tracker<Tracker4, Tracker6>>>(tracker,
                                                                                       config);
        },
        .ask =
            [this](std::span<node::Request* const> requests) {
              for (node::Request* request : requests) {
                while (request != nullptr && !request->step()) ++turns_;
              }
              return std::optional<Error>();
            },
        .describe =
            [](const ConnectionRow& row, Json& json) {
              json["rule"] = row.owner;
              json["ends"] = net::endpoint_text(row.client, row.client_port) + " " +
                             net::endpoint_text(row.destination, row.destination_port);
            },
        .describe_owner = [](size_t, uint32_t owner, Json& json) { json["rule"] = owner; }};
  }
  static std::array<std::vector<bool>, 2> all_owners() {
    return {std::vector<bool>(kOwners, true), std::vector<bool>(kOwners, true)};
  }
  Result<Json> run(const Json& parameters) {
    return run_connections(parameters, all_owners(), false, source());
  }
  std::string refusal(const Json& parameters) {
    const Result<Json> result = run(parameters);
    return result ? "taken: " + result.value().dump() : result.error().message;
  }
  conntrack::FlowCounts counts() {
    conntrack::FlowCounts sum;
    for (size_t worker = 0; worker < kWorkers; ++worker) {
      sum += conntrack::Tracker(ipv4_[worker], ipv6_[worker]).counts();
    }
    return sum;
  }

  std::mt19937 random_{7};  // NOLINT(cert-msc51-cpp,cert-msc32-c): the same connections each time
  conntrack::StateTimeouts timeouts_ = [] {
    conntrack::StateTimeouts timeouts;
    timeouts.fill(60);
    return timeouts;
  }();
  std::vector<Tracker4> ipv4_;
  std::vector<Tracker6> ipv6_;
  std::vector<Created> created_;
  uint64_t turns_ = 0;
};

TEST_F(Connections, pages_list_each_once_whatever_their_limit) {
  using Row = std::tuple<size_t, uint32_t, std::string, std::string, std::string>;
  std::set<Row> expected;
  for (const Created& one : created_) {
    expected.emplace(one.worker, one.owner, one.ends,
                     conntrack::connection_state_name(one.connection.state),
                     conntrack::kFlowClassNames[static_cast<size_t>(one.connection.flow_class())]);
  }
  for (const int limit : {8, 9, 100, 1'000}) {
    std::set<Row> listed;
    Json parameters = {{"limit", limit}};
    while (true) {
      const Json page = run(parameters).value();
      ASSERT_LE(page["flows"].size(), static_cast<size_t>(limit));
      for (const Json& row : page["flows"]) {
        EXPECT_FALSE(row.contains("local"));
        const bool is_new =
            listed.emplace(row["worker"], row["rule"], row["ends"], row["state"], row["class"])
                .second;
        EXPECT_TRUE(is_new) << row;
      }
      if (!page.contains("cursor")) break;
      parameters["cursor"] = page["cursor"];
    }
    EXPECT_EQ(listed, expected) << "limit " << limit;
  }
  EXPECT_GT(turns_, 100U) << "a walk takes many turns of its worker";
}

TEST_F(Connections, counts_are_by_owner_state_and_class) {
  std::map<std::pair<uint32_t, std::string>, uint64_t> by;
  std::map<std::string, uint64_t> classes;
  for (const Created& one : created_) {
    ++by[{one.owner, std::string(conntrack::connection_state_name(one.connection.state))}];
    ++classes[std::string(
        conntrack::kFlowClassNames[static_cast<size_t>(one.connection.flow_class())])];
  }
  const Json counted = run({{"action", "count"}}).value();
  EXPECT_EQ(counted["flows"], kConnections);
  for (const auto& [name, count] : counted["classes"].items()) EXPECT_EQ(count, classes[name]);
  std::map<std::pair<uint32_t, std::string>, uint64_t> said;
  for (const Json& row : counted["by"])
    said[{row["rule"], row["state"]}] += row["flows"].get<uint64_t>();
  EXPECT_EQ(said, by);
}

TEST_F(Connections, filters_delete_what_they_name_and_nothing_else) {
  const auto count_where = [&](const auto& is_meant) {
    return static_cast<uint64_t>(std::ranges::count_if(created_, is_meant));
  };
  const uint64_t of_client =
      count_where([](const Created& one) { return one.client == "192.0.2.3"; });
  EXPECT_GT(of_client, 0U);
  EXPECT_EQ(run({{"action", "delete"}, {"client", "192.0.2.3"}}).value()["deleted"], of_client);
  EXPECT_EQ(counts().deleted, of_client);
  EXPECT_EQ(run({{"action", "count"}, {"client", "192.0.2.3"}}).value()["flows"], 0);

  const uint64_t syn_sent_of_ipv6 = count_where([](const Created& one) {
    return one.client.find(':') != std::string::npos &&
           one.connection.state == conntrack::ConnectionState::kSynSent;
  });
  const Json parameters = {
      {"action", "delete"}, {"client", "2001:db8::/64"}, {"state", "syn_sent"}};
  EXPECT_EQ(run(parameters).value()["deleted"], syn_sent_of_ipv6);

  auto owners = all_owners();
  owners[0][1] = owners[1][1] = false;
  const uint64_t before = run({{"action", "count"}}).value()["flows"];
  const uint64_t deleted =
      run_connections({{"action", "delete"}}, owners, true, source()).value()["deleted"];
  const Json left = run({{"action", "count"}}).value();
  EXPECT_EQ(left["flows"], before - deleted);
  for (const Json& row : left["by"]) EXPECT_EQ(row["rule"], 1);
  EXPECT_EQ(counts().held(), before - deleted);
}

TEST_F(Connections, what_cannot_be_meant_is_refused) {
  EXPECT_NE(refusal({{"action", "delete"}}).find("every connection"), std::string::npos);
  EXPECT_NE(refusal({{"client", "192.0.2.0/33"}}).find("client: give a prefix"), std::string::npos);
  EXPECT_NE(refusal({{"limit", 7}}).find("limit: give 8 to 1000"), std::string::npos);
  for (const char* cursor : {"2.0.0", "0.2.0", "0.0", "0.0.0x", "-1.0.0", ""}) {
    EXPECT_NE(refusal({{"cursor", cursor}}).find("cursor: give that"), std::string::npos) << cursor;
  }
  EXPECT_EQ(counts().deleted, 0U);
  EXPECT_EQ(run({{"action", "delete"}, {"all", true}}).value()["deleted"], kConnections);
}

TEST_F(Connections, a_view_has_the_bound_end_only_where_one_is) {
  const auto columns_of = [](const Json& flow) {
    return connections_view({{"flows", Json::array({flow})}}, {"client", "local", "state"},
                            {})[0]["columns"];
  };
  EXPECT_EQ(columns_of({{"client", "a"}}), Json({"client", "state"}));
  EXPECT_EQ(columns_of({{"client", "a"}, {"local", "b"}}), Json({"client", "local", "state"}));
}

}  // namespace
}  // namespace roost::control

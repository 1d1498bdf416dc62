// Services of several ports while the configuration changes, and what is said of them.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/lb/controlled.h"
#include "tests/lb/ranged_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kRst;
using net::tcp::kSyn;

class RangedControl : public Controlled {
 protected:
  RangedControl() : Controlled(ranged_config(kRanged4, "\"8000-8099\"", 9'000)) {}

  Fate send(uint16_t port, uint8_t flags) {
    return workers_[0].send_from_client(
        {.destination = kRanged4.virtual_address, .destination_port = port, .tcp_flags = flags});
  }
  // Where a packet to this port goes.
  uint16_t backend_port_of(uint16_t port, uint8_t flags) {
    const Fate fate = send(port, flags);
    EXPECT_EQ(fate.cause, std::nullopt);
    return fate.cause ? uint16_t{0} : read_ends(fate.frame).destination_port;
  }
  Json service(const std::string& name) {
    const Json told = must({{"command", "services"}});
    for (const Json& one : told["services"]) {
      if (one["name"] == name) return one;
    }
    return {};
  }
};

TEST_F(RangedControl, a_range_that_ends_elsewhere_is_the_same_service) {
  EXPECT_EQ(backend_port_of(8'050, kSyn), 9'050);
  Json taken = reload(ranged_config(kRanged4, "\"8000-8199\"", 9'000)).value();
  EXPECT_EQ(taken["added"], 0);
  EXPECT_EQ(taken["removed"], 0);
  EXPECT_EQ(backend_port_of(8'050, kAck), 9'050);
  EXPECT_EQ(backend_port_of(8'150, kSyn), 9'150);
  ASSERT_TRUE(reload(ranged_config(kRanged4, "\"8000-8009\"", 9'000)).ok());
  EXPECT_EQ(backend_port_of(8'150, kAck), 9'150) << "connections go on";
  EXPECT_EQ(send(8'151, kSyn).cause, drop_cause::kNoService);
  EXPECT_EQ(service("ranged")["backends"][0]["flows"], 2);
  expect_sums();
}

TEST_F(RangedControl, a_range_that_begins_elsewhere_is_another_one) {
  EXPECT_EQ(backend_port_of(8'050, kSyn), 9'050);
  Json taken = reload(ranged_config(kRanged4, "\"8010-8099\"", 9'000)).value();
  EXPECT_EQ(taken["added"], 1);
  EXPECT_EQ(taken["connections_on_removed"], 1);
  EXPECT_EQ(backend_port_of(8'050, kAck), 9'050) << "as it began";
  EXPECT_EQ(backend_port_of(8'051, kSyn), 9'041);
  expect_sums();
}

TEST_F(RangedControl, a_port_that_becomes_another_services_gets_its_next_connection) {
  EXPECT_EQ(backend_port_of(8'050, kSyn), 9'050);
  EXPECT_EQ(backend_port_of(8'051, kSyn), 9'051);
  ASSERT_TRUE(reload(ranged_config(kRanged4, "\"8000-8099\"", 9'000) +
                     ranged_service(kRanged4, "one", "8_050", 50))
                  .ok());
  EXPECT_EQ(backend_port_of(8'050, kAck), 9'050) << "the connection does not move";
  for (const uint16_t port : std::initializer_list<uint16_t>{8'050, 8'051}) {
    const PacketSpec answer{.destination_mac = "02:00:00:00:00:02",
                            .source = kRanged4.backend,
                            .destination = kRanged4.client,
                            .source_port = static_cast<uint16_t>(port + 1'000),
                            .destination_port = 40'000,
                            .tcp_flags = kRst | kAck};
    EXPECT_EQ(workers_[0].send_from_backend(answer).cause, std::nullopt);
  }
  EXPECT_EQ(backend_port_of(8'050, kSyn), 50);
  EXPECT_EQ(backend_port_of(8'051, kSyn), 9'051);
  EXPECT_EQ(service("one")["backends"][0]["flows"], 1);
  expect_sums();
}

TEST_F(RangedControl, connections_are_told_with_their_own_ports_and_services_with_all) {
  static_cast<void>(send(8'050, kSyn));
  EXPECT_EQ(service("ranged")["endpoint"], "198.51.100.99:8000-8099");
  EXPECT_EQ(service("ranged")["backends"][0]["endpoint"], "10.0.0.11:9000-9099");
  const Json flows = must({{"command", "flows"}, {"action", "list"}, {"service", "ranged"}});
  ASSERT_EQ(flows["flows"].size(), 1U) << flows;
  EXPECT_EQ(flows["flows"][0]["virtual"], "198.51.100.99:8050");
  EXPECT_EQ(flows["flows"][0]["endpoint"], "10.0.0.11:9050");
}

TEST_F(RangedControl, checks_ask_the_port_that_they_name) {
  std::string toml = ranged_config(kRanged4, "\"8000-8099\"", 9'000);
  toml.replace(toml.find("name = \"ranged\""), 0, "check = {kind = \"tcp\", port = 9042}\n");
  ASSERT_TRUE(reload(toml).ok());
  const auto checked = control_->checked_backends();
  ASSERT_EQ(checked.size(), 1U);
  EXPECT_EQ(checked[0].port, 9'042);
}

}  // namespace
}  // namespace roost::lb

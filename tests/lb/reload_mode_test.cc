// A service that gets another mode while packets flow.
#include <gtest/gtest.h>

#include "tests/lb/consistency.h"
#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

// Connections keep the mode that they began with.
TEST_F(Controlled, a_service_of_another_mode_is_another_one) {
  ConsistencyChecker checker;
  const auto send_all = [&](uint8_t flags) {
    for (uint16_t port = 1; port <= 300; ++port) {
      checker.note(std::to_string(port),
                   workers_[0].send_from_client({.source_port = port, .tcp_flags = flags}));
    }
  };
  send_all(net::tcp::kSyn);
  const std::string name = "name = \"web\"\n";
  std::string toml = test_config(name, name + "mode = \"l2dsr\"\n");
  for (size_t at = toml.find("port = 8080"); at < toml.find("web6");
       at = toml.find("port = 8080")) {
    toml.replace(at, 11, "port = 80");
  }
  ASSERT_TRUE(reload(toml).ok());
  send_all(net::tcp::kAck);
  EXPECT_EQ(checker.violations(), 0U);
  for (uint16_t port = 1'000; port < 1'100; ++port) {
    EXPECT_EQ(endpoint_of(workers_[0].send_from_client({.source_port = port})), "198.51.100.80:80")
        << "as it was sent";
  }
  const Json services = must({{"command", "services"}})["services"];
  EXPECT_EQ(services[0]["mode"], "l2dsr");
  EXPECT_EQ(services.back()["mode"], "nat");
  EXPECT_EQ(services.back()["removed"], true);
  expect_sums();
}

}  // namespace
}  // namespace roost::lb

// Which addresses are announced when an operator says so and after a reload, and by which worker.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

// Two virtual addresses are on the clients' network, two services on one of them.
std::string config_on_the_clients_network() {
  std::string toml = test_config();
  for (const auto& [far, near] : {std::pair("\"198.51.100.80\"", "\"192.0.2.80\""),
                                  {"\"198.51.100.53\"", "\"192.0.2.80\""},
                                  {"\"2001:db8:ffff::80\"", "\"2001:db8:1::80\""}}) {
    for (size_t at = toml.find(far); at != std::string::npos; at = toml.find(far)) {
      toml.replace(at, std::string_view(far).size(), near);
    }
  }
  return toml;
}

class Announcing : public Controlled {
 protected:
  Announcing() : Controlled(config_on_the_clients_network()) {}
  // How many frames a worker originated for each port since the last time.
  std::array<size_t, 2> idle_of(size_t worker) {
    workers_[worker].idle();
    std::array<size_t, 2> by_port{};
    for (const Fate& own : std::exchange(workers_[worker].originated, {})) ++by_port[own.out_port];
    return by_port;
  }
};

TEST_F(Announcing, one_worker_tells_each_network_of_the_ports_and_the_virtual_addresses) {
  EXPECT_EQ(idle_of(0), (std::array<size_t, 2>{}));
  EXPECT_EQ(must({{"command", "announce"}})["addresses"], 6);
  EXPECT_EQ(idle_of(0), (std::array<size_t, 2>{5, 3})) << "and of its groups";
  EXPECT_EQ(idle_of(1), (std::array<size_t, 2>{}));
  EXPECT_EQ(must({{"command", "stats"}})["neighbours"]["unsolicited_sent"], 6);
  expect_sums();
}

TEST_F(Controlled, the_addresses_are_announced_after_a_reload_by_one_worker) {
  const auto originated = [&](size_t worker) {
    workers_[worker].idle();
    return std::exchange(workers_[worker].originated, {}).size();
  };
  ASSERT_TRUE(reload(test_config()).ok());
  EXPECT_EQ(originated(0), 6U) << "the ports' own, and a report each of its groups";
  EXPECT_EQ(originated(1), 0U);
  std::string near = test_config();
  near.replace(near.find("198.51.100.80"), 13, "192.0.2.80");
  ASSERT_TRUE(reload(near).ok());
  EXPECT_EQ(originated(0), 7U);
  EXPECT_FALSE(reload("no configuration").ok());
  EXPECT_EQ(originated(0), 0U);
  ++workers_[0].now.count;
  EXPECT_EQ(originated(0), 7U) << "a refused file does not end what is under way";
  expect_sums();
}

}  // namespace
}  // namespace roost::lb

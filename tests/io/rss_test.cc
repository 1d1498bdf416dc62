// What devices are asked for so that each worker receives what it owns. No device that hashes one
// address alone is here: what such a one is asked for is checked, and that our hash is DPDK's, not
// what it then does.
#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_thash.h>

#include <array>
#include <random>

#include "roost/io/rss_configuration.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

rte_eth_dev_info device_of(uint64_t types, uint8_t key_bytes = 40, uint16_t entries = 512) {
  rte_eth_dev_info device = {};
  device.flow_type_rss_offloads = types;
  device.hash_key_size = key_bytes;
  device.reta_size = entries;
  return device;
}

constexpr uint64_t kCommon = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
constexpr uint64_t kOneAddress = RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY;

TEST(RssTypes, of_one_address_where_the_device_can_and_else_of_both) {
  const rte_eth_dev_info able = device_of(kCommon | kOneAddress | RTE_ETH_RSS_SCTP);
  EXPECT_EQ(rss_types(able, net::RssInput::kSource), kCommon | RTE_ETH_RSS_L3_SRC_ONLY);
  EXPECT_EQ(rss_types(able, net::RssInput::kDestination), kCommon | RTE_ETH_RSS_L3_DST_ONLY);
  EXPECT_EQ(rss_types(able, net::RssInput::kBoth), kCommon);
  EXPECT_EQ(rss_types(device_of(kCommon), net::RssInput::kSource), kCommon);
  EXPECT_EQ(rss_types(device_of(RTE_ETH_RSS_IPV4), net::RssInput::kBoth), RTE_ETH_RSS_IPV4);
  EXPECT_EQ(rss_types(device_of(RTE_ETH_RSS_L2_PAYLOAD | kOneAddress), net::RssInput::kSource), 0u);
}

TEST(RssTypes, a_choice_is_repeatable_under_our_key_through_a_table_that_is_long_enough) {
  const uint64_t source = kCommon | RTE_ETH_RSS_L3_SRC_ONLY;
  EXPECT_TRUE(is_repeatable(device_of(source), source));
  EXPECT_TRUE(is_repeatable(device_of(source, 52, 128), source));
  EXPECT_FALSE(is_repeatable(device_of(kCommon), kCommon));
  EXPECT_FALSE(is_repeatable(device_of(source, 0), source)) << "it keeps its own key";
  EXPECT_FALSE(is_repeatable(device_of(source, 64), source)) << "a key longer than ours";
  EXPECT_FALSE(is_repeatable(device_of(source, 40, 64), source));
  EXPECT_FALSE(is_repeatable(device_of(source, 40, 0), source));
}

TEST(RssTypes, the_device_gets_as_much_of_the_key_as_it_takes) {
  net::RssKey key{1, 2, 3};
  rte_eth_conf configuration = {};
  add_rss(device_of(kCommon, 40), kCommon, key, configuration);
  EXPECT_EQ(configuration.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
  EXPECT_EQ(configuration.rx_adv_conf.rss_conf.rss_hf, kCommon);
  EXPECT_EQ(configuration.rx_adv_conf.rss_conf.rss_key, key.data());
  EXPECT_EQ(configuration.rx_adv_conf.rss_conf.rss_key_len, 40);
  configuration = {};
  add_rss(device_of(kCommon, 0), kCommon, key, configuration);
  EXPECT_EQ(configuration.rx_adv_conf.rss_conf.rss_key, nullptr);
}

TEST(ToeplitzHash, is_that_of_dpdk) {
  std::mt19937_64 random(1);
  for (size_t round = 0; round < 10'000; ++round) {
    net::RssKey key{};
    for (uint8_t& byte : key) byte = static_cast<uint8_t>(random());
    const net::ToeplitzHash hash(key);
    std::array<uint8_t, 16> address{};
    for (uint8_t& byte : address) byte = static_cast<uint8_t>(random());
    std::array<uint32_t, 4> words{};  // in the machine's order, as DPDK's function takes them
    for (size_t i = 0; i < address.size(); ++i) words[i / 4] = words[i / 4] << 8 | address[i];
    ASSERT_EQ(hash.hash(address), rte_softrss(words.data(), 4, key.data()));
    const std::array<uint8_t, 4> first = {address[0], address[1], address[2], address[3]};
    ASSERT_EQ(hash.hash(first), rte_softrss(words.data(), 1, key.data()));
  }
}

// net_null has a table, and hashes both addresses only.
TEST(RssTable, names_the_queue_of_the_worker_that_an_entry_stands_for) {
  PortRun run({"net_null0", "net_null1"}, {}, 2);
  for (const uint16_t id : {uint16_t{0}, uint16_t{1}}) {
    const Port& port = run.ports()[id];
    ASSERT_EQ(port.receive_queue_count(), 2u);
    EXPECT_FALSE(port.is_steered());
    std::array<rte_eth_rss_reta_entry64, 2> table{};
    for (auto& group : table) group.mask = UINT64_MAX;
    ASSERT_EQ(rte_eth_dev_rss_reta_query(id, table.data(), 128), 0);
    for (size_t entry = 0; entry < net::kRssEntries; ++entry) {
      // Port 1's first queue is the second worker's.
      EXPECT_EQ(table[entry / 64].reta[entry % 64], (net::rss_worker(entry, 2) + id) % 2) << entry;
    }
  }
}

}  // namespace
}  // namespace roost::io

#include "roost/io/rss_configuration.h"

namespace roost::io {

namespace {

constexpr uint64_t kOneAddress = RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY;

uint64_t only(net::RssInput input) {
  if (input == net::RssInput::kSource) return RTE_ETH_RSS_L3_SRC_ONLY;
  if (input == net::RssInput::kDestination) return RTE_ETH_RSS_L3_DST_ONLY;
  return 0;
}

bool takes_key(const rte_eth_dev_info& device) {
  return device.hash_key_size != 0 && device.hash_key_size <= net::RssKey().size();
}

}  // namespace

uint64_t rss_types(const rte_eth_dev_info& device, net::RssInput input) {
  const uint64_t known =
      device.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
  if (known == 0) return 0;
  return known | (device.flow_type_rss_offloads & only(input));
}

bool is_repeatable(const rte_eth_dev_info& device, uint64_t types) {
  return (types & kOneAddress) != 0 && takes_key(device) &&
         device.reta_size % net::kRssEntries == 0 && device.reta_size != 0;
}

void add_rss(const rte_eth_dev_info& device, uint64_t types, net::RssKey& key,
             rte_eth_conf& configuration) {
  configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  configuration.rx_adv_conf.rss_conf.rss_hf = types;
  if (!takes_key(device)) return;
  configuration.rx_adv_conf.rss_conf.rss_key = key.data();
  configuration.rx_adv_conf.rss_conf.rss_key_len = device.hash_key_size;
}

}  // namespace roost::io

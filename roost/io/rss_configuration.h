// How a device is configured to spread what it receives over its queues.
#pragma once

#include <rte_ethdev.h>

#include <cstdint>

#include "roost/net/rss.h"

namespace roost::io {

// The packets to hash, RTE_ETH_RSS_*: IP, TCP and UDP as far as the device knows them; by one
// address alone if that is wanted and the device can. 0: it does not hash.
[[nodiscard]] uint64_t rss_types(const rte_eth_dev_info& device, net::RssInput input);

// Whether these types, on this device, make a choice that software can repeat: of one address
// alone, under our key, through a table that is long enough.
[[nodiscard]] bool is_repeatable(const rte_eth_dev_info& device, uint64_t types);

// Adds the hash to what the device is configured with. `key` must outlive the device: DPDK keeps
// its address.
void add_rss(const rte_eth_dev_info& device, uint64_t types, net::RssKey& key,
             rte_eth_conf& configuration);

}  // namespace roost::io

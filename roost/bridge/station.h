// Where a station may be, and its address as people write it: one check for configurations,
// commands and imports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "roost/bridge/fdb_entry.h"
#include "roost/bridge/vlan_ports.h"
#include "roost/net/address.h"

namespace roost::bridge {

// The address of one station; nothing for a group's, zero, and what is no address.
[[nodiscard]] std::optional<net::MacAddress> parse_station_mac(std::string_view text);

// Why a station cannot be at this port in its VLAN; empty when it can, or has no port.
[[nodiscard]] std::string why_not_there(const FdbKey& key, uint16_t port, size_t port_count,
                                        const VlanPorts& vlans);

// "drop" for none.
[[nodiscard]] std::string port_text(uint16_t port);
[[nodiscard]] std::string_view kind_name(FdbValue value);

}  // namespace roost::bridge

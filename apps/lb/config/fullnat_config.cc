#include "apps/lb/config/fullnat_config.h"

#include <string>

#include "roost/config/message_text.h"
#include "roost/net/headers.h"

namespace roost::lb {

namespace {

constexpr size_t kLocalAddressesMax = 256;

std::vector<net::IpAddress> read_addresses(config::TomlTable& table, const std::string& key) {
  std::vector<net::IpAddress> addresses;
  const toml::array* array = table.array(key);
  if (array == nullptr) return addresses;
  if (array->size() > kLocalAddressesMax) {
    table.fault_in(key, "more than " + std::to_string(kLocalAddressesMax) +
                            "; give fewer, each has up to 65,535 ports a backend");
  }
  for (const toml::node& element : *array) {
    const std::string text = element.value_or(std::string());
    const Result<net::IpAddress> address = net::IpAddress::parse(text);
    if (element.is_string() && address) {
      addresses.push_back(address.value());
    } else {
      table.fault(config::line_of(element), table.name() + " " + key + ": " +
                                                config::in_quotes(text) +
                                                " is no address; write it like \"10.0.0.100\"");
    }
  }
  return addresses;
}

void read_ports(config::TomlTable& table, FullnatConfig& config) {
  const toml::array* array = table.array("ports");
  if (array == nullptr) return;
  const auto port = [&](size_t i) { return array->get(i)->value_or(int64_t{0}); };
  if (array->size() != 2 || port(0) < 1 || port(0) > port(1) || port(1) > net::kL4PortMax) {
    table.fault_in("ports",
                   "these are no ports; give the first and the last one, as in [1024, 65535]");
    return;
  }
  config.first_port = static_cast<uint16_t>(port(0));
  config.last_port = static_cast<uint16_t>(port(1));
}

}  // namespace

FullnatConfig read_fullnat(config::TomlTable& top, std::vector<config::Fault>& faults) {
  FullnatConfig config;
  const toml::table* toml = top.table("fullnat");
  if (toml == nullptr) return config;
  config::TomlTable table(*toml, "[fullnat]", faults);
  config.line = table.line();
  config.addresses = read_addresses(table, "addresses");
  config.nat64_addresses = read_addresses(table, "nat64_addresses");
  if (table.array("nat64_addresses") == nullptr) {
    table.require("addresses", "addresses = [\"10.0.0.100\"], of the balancer's own");
  }
  read_ports(table, config);
  table.refuse_unknown_keys();
  return config;
}

}  // namespace roost::lb

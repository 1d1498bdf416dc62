// A configuration of IPv6 services with IPv4 backends.
#pragma once

#include <string>

#include "tests/lb/test_balancer.h"

namespace roost::lb {

// Both IPv6 services in fullnat, on the IPv4 backends that IPv4 services have too, which are in
// fullnat as well.
inline std::string nat64_config(const std::string& nat64 = "\"10.0.0.200\"",
                                const std::string& ports = "[1024, 65535]") {
  std::string toml = test_config();
  const auto replace_all = [&](const std::string& what, const std::string& by) {
    for (size_t at = 0; (at = toml.find(what, at)) != std::string::npos; at += by.size()) {
      toml.replace(at, what.size(), by);
    }
  };
  replace_all("name = \"b1\", address = \"2001:db8:2::11\"",
              "name = \"b1\", address = \"10.0.0.11\"");
  replace_all("name = \"b2\", address = \"2001:db8:2::12\"",
              "name = \"b2\", address = \"10.0.0.12\"");
  for (const std::string name : {"web", "web6", "dns6"}) {
    const std::string line = "name = \"" + name + "\"\n";
    toml.replace(toml.find(line), line.size(), line + "mode = \"fullnat\"\n");
  }
  return toml + "[fullnat]\naddresses = [\"10.0.0.100\"]\nnat64_addresses = [" + nat64 +
         "]\nports = " + ports + "\n";
}

}  // namespace roost::lb

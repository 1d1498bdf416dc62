// What tests of services with several ports share: configurations with one, of either family.
#pragma once

#include <string>

#include "tests/lb/test_balancer.h"

namespace roost::lb {

struct RangedFamily {
  std::string client, virtual_address, backend, other_backend;
};
inline const RangedFamily kRanged4 = {"192.0.2.10", "198.51.100.99", "10.0.0.11", "10.0.0.12"};
inline const RangedFamily kRanged6 = {"2001:db8:1::10", "2001:db8:ffff::99", "2001:db8:2::11",
                                      "2001:db8:2::12"};

// A service on one backend; `port` as the file has it, `backend_port` 0: not given.
inline std::string ranged_service(const RangedFamily& family, const std::string& name,
                                  const std::string& port, uint16_t backend_port,
                                  const std::string& protocol = "tcp",
                                  const std::string& more_backends = "") {
  const std::string its_port = backend_port == 0 ? "" : ", port = " + std::to_string(backend_port);
  return "[[service]]\nname = \"" + name + "\"\naddress = \"" + family.virtual_address +
         "\"\nport = " + port + "\nprotocol = \"" + protocol +
         "\"\nbackends = [{name = \"b1\", address = \"" + family.backend + "\"" + its_port + "}" +
         more_backends + "]\n";
}

// The test configuration with such a service beside the others, on two backends if it has all
// ports.
inline std::string ranged_config(const RangedFamily& family, const std::string& port,
                                 uint16_t backend_port, const std::string& protocol = "tcp") {
  const std::string other = ", {name = \"b2\", address = \"" + family.other_backend + "\"}";
  return test_config() + ranged_service(family, "ranged", port, backend_port, protocol,
                                        port == "\"any\"" ? other : "");
}

}  // namespace roost::lb

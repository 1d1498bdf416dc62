#include "lab/functions/nat_holder.h"

namespace roost::lab {

std::string nat_toml(const NatSettings& settings) {
  // Hosts have addresses by chance, so not all of a full address's ports are counted on.
  constexpr uint64_t kMappingsOfAddress = 50'000;
  std::string external;
  for (uint64_t i = 0; i <= settings.mappings / kMappingsOfAddress; ++i)
    external += fmt::format("{}\"203.0.{}.{}\"", i == 0 ? "" : ", ", 113 + i / 250, 1 + i % 250);
  return fmt::format(R"(tick_seconds = 1
[nat]
external = [{}]
connections = {}
hash_seed = {}
[timeouts]
{}[[port]]
addresses = ["192.0.2.1/24"]
mac = "02:00:00:00:00:01"
inside = true
[[port]]
addresses = ["10.0.0.1/24"]
mac = "02:00:00:00:00:02"
[[neighbour]]
address = "10.0.0.254"
mac = "02:00:00:00:01:01"
[[route]]
prefix = "0.0.0.0/0"
via = "10.0.0.254"
)",
                     external, settings.mappings, settings.hash_seed, kPacketTimeouts);
}

}  // namespace roost::lab

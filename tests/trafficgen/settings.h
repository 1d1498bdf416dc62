// A configuration of the traffic generator for tests: small, and every part of it there.
#pragma once

#include <string>

namespace roost::trafficgen {

inline const std::string kSettings = R"([traffic]
flows = 20000
seconds = 2
flow_seconds = 0.5
mean_packets = 10
seed = 7
[clients]
port = 0
mac = "02:00:00:00:00:01"
gateway = "02:00:00:00:01:00"
prefixes = ["64.0.0.0/8", "2001:db8:1::/48"]
[backends]
port = 1
mac = "02:00:00:00:00:02"
gateway = "02:00:00:00:01:01"
prefixes = ["10.0.0.0/24", "2001:db8:2::/64"]
[[service]]
address = "198.51.100.80"
port = 80
)";

// With a step, and with what else is said.
inline std::string settings_with(const std::string& more) { return kSettings + more; }
inline const std::string kOneStep = "[[step]]\nseconds = 1\npackets_per_second = 50000\n";

}  // namespace roost::trafficgen

// A configuration for a capture without one: what it contacts most becomes virtual services on
// invented backends, so that any capture can be replayed through the load balancer.
#pragma once

#include <string>

#include "roost/base/result.h"

namespace roost::lb {

// The text of a configuration file, with comments that say what is invented. Reads the capture
// once, packet by packet; any bytes will do. Refused: what libpcap cannot open, link types other
// than Ethernet, and a capture without a TCP or UDP packet that could be balanced.
[[nodiscard]] Result<std::string> suggest_config(const std::string& capture_path);

}  // namespace roost::lb

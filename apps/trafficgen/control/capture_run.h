// A run of the traffic generator into a capture file: no ports, and time is that of the schedule.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>

#include "apps/trafficgen/config/config.h"
#include "roost/base/result.h"

namespace roost::trafficgen {

// As if nothing stood between clients and service: answers come from the service's own address.
// Memory grows with the connections that live at a time, not with the packets. Returns how many
// were written. Errors: those of the stream; the file cannot be written.
[[nodiscard]] Result<uint64_t> write_capture(const Config& config, const std::string& path,
                                             const volatile std::sig_atomic_t* stop);

}  // namespace roost::trafficgen

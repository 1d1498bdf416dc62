// A health check's DNS request, and what a name server's answer to it is worth; by libresolv.
#pragma once

#include <string>
#include <string_view>

#include "roost/control/check_kind.h"

namespace roost::control {

// A recursive request under a random number. Empty: the name cannot be written in one.
[[nodiscard]] std::string dns_request(const DnsCheck& check);

// Why an answer of any bytes is bad; empty: it answers the request as the check expects.
[[nodiscard]] std::string dns_failure(const DnsCheck& check, std::string_view request,
                                      std::string_view answer);

}  // namespace roost::control

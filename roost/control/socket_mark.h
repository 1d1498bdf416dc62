// The firewall mark of a socket (SO_MARK), by which the kernel chooses another way for its packets.
#pragma once

#include <cstdint>
#include <string>

namespace roost::control {

// Empty: the socket has it. Else why not; it takes CAP_NET_ADMIN or CAP_NET_RAW. 0 is no mark.
[[nodiscard]] std::string mark_socket(int socket, uint32_t mark);

}  // namespace roost::control

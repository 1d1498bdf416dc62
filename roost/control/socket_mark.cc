#include "roost/control/socket_mark.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace roost::control {

std::string mark_socket(int socket, uint32_t mark) {
  if (mark == 0 || setsockopt(socket, SOL_SOCKET, SO_MARK, &mark, sizeof mark) == 0) return "";
  return fmt::format("its sockets cannot have the mark {}: {}", mark,
                     std::generic_category().message(errno));
}

}  // namespace roost::control

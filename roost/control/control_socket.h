// A unix socket on which operators and their programs talk to a running function: a line of text
// in, a line of text out, as often as they like. It runs in a thread of its own, beside the
// workers, and knows nothing of what the lines mean.
//
// A client cannot stop it: connections, the length of a request, and the time that a client may
// take to send one or to read its answer are bounded; one that goes beyond is disconnected. When
// all places are taken, a new client gets that of the one that has been idle for longest; while
// none is idle, it waits. One request is answered at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "roost/base/result.h"

namespace roost::control {

class ControlSocket {
 public:
  static constexpr size_t kRequestBytesMax = 16 << 10;
  static constexpr size_t kClientsMax = 16;

  struct Config {
    std::string path{};
    uint32_t mode = 0660;       // permissions
    std::string group{};        // empty: the process's own
    uint32_t seconds_max = 30;  // for a client to send a whole request, or to read an answer
  };
  // Called on the socket's thread with a request without its newline; returns the answer without
  // one.
  using Answer = std::function<std::string(std::string_view request)>;

  // Listens from now on. A socket without a listener is replaced. Refused: a path that a process
  // listens to, that is no socket, or that cannot be made; a group that does not exist.
  static Result<ControlSocket> start(const Config& config, Answer answer);

  ControlSocket(ControlSocket&&) noexcept;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();  // waits for the answer that is under way, and removes the socket

 private:
  class Server;
  explicit ControlSocket(std::unique_ptr<Server> server);

  std::unique_ptr<Server> server_;
};

}  // namespace roost::control

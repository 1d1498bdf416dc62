// A health check by a TCP connection: good when it is made.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>

#include "roost/control/check_attempt.h"
#include "roost/control/check_socket.h"
#include "roost/control/health_checker.h"

namespace roost::control {

class TcpAttempt final : public CheckAttempt {
 public:
  TcpAttempt(asio::io_context& context, const HealthTarget& target, CheckDone done);
  ~TcpAttempt() override { socket_->close(); }

 private:
  std::shared_ptr<CheckSocket<asio::ip::tcp>> socket_;
};

}  // namespace roost::control

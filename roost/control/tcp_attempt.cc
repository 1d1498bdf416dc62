#include "roost/control/tcp_attempt.h"

#include <utility>

namespace roost::control {

TcpAttempt::TcpAttempt(asio::io_context& context, const HealthTarget& target, CheckDone done)
    : socket_(std::make_shared<CheckSocket<asio::ip::tcp>>(context, std::move(done))) {
  socket_->connect(target, [](CheckSocket<asio::ip::tcp>& socket) { socket.finish(""); });
}

}  // namespace roost::control

#include "roost/control/tcp_attempt.h"

#include <asio/ip/tcp.hpp>
#include <system_error>
#include <utility>

namespace roost::control {

namespace {

using Tcp = asio::ip::tcp;

Tcp::endpoint endpoint_of(const HealthTarget& target) {
  if (target.address.is_ipv6()) {
    return {asio::ip::address_v6(target.address.ipv6().bytes), target.port};
  }
  return {asio::ip::address_v4(target.address.ipv4().bytes), target.port};
}

}  // namespace

struct TcpAttempt::State {
  Tcp::socket socket;
  CheckDone done;  // null when there is nobody left to tell
};

TcpAttempt::TcpAttempt(asio::io_context& context, const HealthTarget& target, CheckDone done)
    : state_(std::make_shared<State>(Tcp::socket(context), std::move(done))) {
  state_->socket.async_connect(endpoint_of(target), [state = state_](std::error_code error) {
    if (!state->done) return;
    const CheckDone told = std::exchange(state->done, nullptr);
    told(error ? error.message() : "");
  });
}

TcpAttempt::~TcpAttempt() {
  state_->done = nullptr;
  std::error_code ignored;
  state_->socket.close(ignored);
}

}  // namespace roost::control

#include "roost/control/udp_attempt.h"

#include <asio/buffer.hpp>
#include <system_error>
#include <utility>

#include "roost/config/message_text.h"

namespace roost::control {

namespace {

using UdpSocket = CheckSocket<asio::ip::udp>;

constexpr size_t kDatagramBytesMax = 65'535;

// What completions hold beside the socket.
struct Exchange {
  std::string request;
  std::string answer;
  UdpAttempt::FailureOf failure_of;
};

void receive(const std::shared_ptr<UdpSocket>& socket, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer.resize(kDatagramBytesMax);
  socket->socket().async_receive(
      asio::buffer(exchange->answer), [socket, exchange](std::error_code error, size_t bytes) {
        if (socket->is_over(error)) return;
        socket->finish(exchange->failure_of(std::string_view(exchange->answer).substr(0, bytes)));
      });
}

void send(const std::shared_ptr<UdpSocket>& socket, const std::shared_ptr<Exchange>& exchange) {
  socket->socket().async_send(asio::buffer(exchange->request),
                              [socket, exchange](std::error_code error, size_t) {
                                if (socket->is_over(error)) return;
                                receive(socket, exchange);
                              });
}

}  // namespace

UdpAttempt::UdpAttempt(asio::io_context& context, const HealthTarget& target, std::string request,
                       FailureOf failure_of, CheckDone done)
    : socket_(std::make_shared<UdpSocket>(context, std::move(done))) {
  auto exchange = std::make_shared<Exchange>(std::move(request), "", std::move(failure_of));
  socket_->connect(target, [exchange = std::move(exchange)](UdpSocket& socket) {
    send(socket.shared_from_this(), exchange);
  });
}

std::string udp_failure(const UdpCheck& check, std::string_view answer) {
  if (answer.find(check.expect) != std::string_view::npos) return "";
  return "its answer does not contain " + config::in_quotes(check.expect);
}

}  // namespace roost::control

// A health check by a datagram: good when the answer to it is.
//
// The socket is connected: answers of others do not arrive, and an ICMP error about the datagram,
// such as port unreachable, is an error of the socket.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "roost/control/check_attempt.h"
#include "roost/control/check_socket.h"
#include "roost/control/health_checker.h"

namespace roost::control {

class UdpAttempt final : public CheckAttempt {
 public:
  // Why an answer is bad; empty: it is good.
  using FailureOf = std::function<std::string(std::string_view answer)>;

  UdpAttempt(asio::io_context& context, const HealthTarget& target, std::string request,
             FailureOf failure_of, CheckDone done);
  ~UdpAttempt() override { socket_->close(); }

 private:
  std::shared_ptr<CheckSocket<asio::ip::udp>> socket_;
};

// Of a check of its own request and answer.
[[nodiscard]] std::string udp_failure(const UdpCheck& check, std::string_view answer);

}  // namespace roost::control

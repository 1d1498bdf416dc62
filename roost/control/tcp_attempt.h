// A health check by a TCP connection: good when it is made.
#pragma once

#include <asio/io_context.hpp>
#include <memory>

#include "roost/control/check_attempt.h"
#include "roost/control/health_checker.h"

namespace roost::control {

class TcpAttempt final : public CheckAttempt {
 public:
  TcpAttempt(asio::io_context& context, const HealthTarget& target, CheckDone done);
  ~TcpAttempt() override;

 private:
  struct State;  // what completions hold, which may come later than this is gone
  std::shared_ptr<State> state_;
};

}  // namespace roost::control

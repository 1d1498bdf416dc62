// A socket of a health check, and whom to tell what came of it. Completions hold it, and may come
// when the check is gone.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/post.hpp>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "roost/control/check_attempt.h"
#include "roost/control/health_checker.h"
#include "roost/control/socket_mark.h"

namespace roost::control {

// `Protocol` is asio's: asio::ip::tcp, asio::ip::udp.
template <class Protocol>
class CheckSocket : public std::enable_shared_from_this<CheckSocket<Protocol>> {
 public:
  CheckSocket(asio::io_context& context, CheckDone done)
      : socket_(context), done_(std::move(done)) {}

  [[nodiscard]] typename Protocol::socket& socket() { return socket_; }

  // Then `then` goes on, unless the check is over.
  template <class Then>
  void connect(const HealthTarget& target, Then then) {
    const auto endpoint = endpoint_of(target);
    const auto self = this->shared_from_this();
    std::error_code error;
    socket_.open(endpoint.protocol(), error);
    const std::string failure =
        error ? error.message() : mark_socket(socket_.native_handle(), target.mark);
    if (!failure.empty()) {
      asio::post(socket_.get_executor(), [self, failure] { self->finish(failure); });
      return;
    }
    socket_.async_connect(endpoint, [self, then = std::move(then)](std::error_code result) {
      if (self->is_over(result)) return;
      then(*self);
    });
  }

  // Whether nobody waits for what comes next; an error ends the check.
  [[nodiscard]] bool is_over(std::error_code error) {
    if (done_ && error) finish(error.message());
    return !done_;
  }

  void finish(const std::string& failure) {
    if (done_) std::exchange(done_, nullptr)(failure);
  }

  // Nobody is told anything any more.
  void close() {
    done_ = nullptr;
    std::error_code ignored;
    socket_.close(ignored);
  }

 private:
  static typename Protocol::endpoint endpoint_of(const HealthTarget& target) {
    if (target.address.is_ipv6()) {
      return {asio::ip::address_v6(target.address.ipv6().bytes), target.port};
    }
    return {asio::ip::address_v4(target.address.ipv4().bytes), target.port};
  }

  typename Protocol::socket socket_;
  CheckDone done_;  // null when it has been told, or nobody is left
};

}  // namespace roost::control

#include "roost/control/health_checker.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <istream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace roost::control {

namespace {

using Tcp = asio::ip::tcp;

constexpr size_t kStatusLineBytesMax = 1'024;

Tcp::endpoint endpoint_of(const HealthTarget& target) {
  if (target.address.is_ipv6()) {
    return {asio::ip::address_v6(target.address.ipv6().bytes), target.port};
  }
  return {asio::ip::address_v4(target.address.ipv4().bytes), target.port};
}

std::string request_of(const HealthTarget& target) {
  const std::string host = target.address.format();
  return "GET " + target.http_path +
         " HTTP/1.0\r\nHost: " + (target.address.is_ipv6() ? "[" + host + "]" : host) +
         "\r\nUser-Agent: roost-health\r\nConnection: close\r\n\r\n";
}

// "HTTP/1.1 200 OK": whether the status is from 200 to 399.
bool is_good_status(asio::streambuf& answer) {
  std::istream stream(&answer);
  std::string version;
  unsigned status = 0;
  stream >> version >> status;
  return stream.good() && version.starts_with("HTTP/") && status >= 200 && status < 400;
}

// One target: a check, a pause, and so on. Every operation under way carries its check's number, so
// that a late completion is ignored.
class Check {
 public:
  Check(asio::io_context& context, HealthTarget target, std::function<bool(bool)> on_change)
      : socket_(context),
        timer_(context),
        answer_(kStatusLineBytesMax),
        target_(std::move(target)),
        request_(request_of(target_)),
        on_change_(std::move(on_change)),
        was_good_(target_.is_well),
        is_well_(target_.is_well) {}

  void start_after(std::chrono::milliseconds pause) {
    timer_.expires_after(pause);
    timer_.async_wait([this](std::error_code error) {
      if (!error) begin();
    });
  }

 private:
  void begin() {
    const uint64_t number = ++number_;
    timer_.expires_after(target_.timeout);
    timer_.async_wait([this, number](std::error_code error) {
      if (!error) finish(number, false);
    });
    answer_.consume(answer_.size());
    socket_.async_connect(endpoint_of(target_), [this, number](std::error_code error) {
      if (error || target_.http_path.empty()) return finish(number, !error);
      send_request(number);
    });
  }

  void send_request(uint64_t number) {
    if (number != number_) return;
    asio::async_write(socket_, asio::buffer(request_),
                      [this, number](std::error_code error, size_t) {
                        if (error) return finish(number, false);
                        read_status(number);
                      });
  }

  void read_status(uint64_t number) {
    if (number != number_) return;
    asio::async_read_until(socket_, answer_, "\r\n", [this, number](std::error_code error, size_t) {
      finish(number, !error && is_good_status(answer_));
    });
  }

  void finish(uint64_t number, bool is_good) {
    if (number != number_) return;
    ++number_;
    std::error_code ignored;
    socket_.close(ignored);
    streak_ = is_good == was_good_ ? streak_ + 1 : 1;
    was_good_ = is_good;
    if (is_good != is_well_ && streak_ >= (is_good ? target_.rise : target_.fall)) {
      is_well_ = is_good;
      is_told_ = false;
    }
    if (!is_told_) is_told_ = on_change_(is_well_);
    start_after(target_.interval);
  }

  Tcp::socket socket_;
  asio::steady_timer timer_;
  asio::streambuf answer_;
  HealthTarget target_;
  std::string request_;
  std::function<bool(bool)> on_change_;
  uint64_t number_ = 0;
  uint64_t streak_ = 0;
  bool was_good_;
  bool is_well_;
  bool is_told_ = true;
};

}  // namespace

class HealthChecker::Checks {
 public:
  Checks(std::vector<HealthTarget> targets, OnChange on_change) : on_change_(std::move(on_change)) {
    const size_t count = targets.size();
    for (size_t i = 0; i < count; ++i) {
      const std::chrono::milliseconds pause = targets[i].interval * i / count;
      checks_.push_back(
          std::make_unique<Check>(context_, std::move(targets[i]),
                                  [this, i](bool is_well) { return on_change_(i, is_well); }));
      checks_.back()->start_after(pause);
    }
    thread_ = std::thread([this] { context_.run(); });
  }
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;
  ~Checks() {
    context_.stop();
    thread_.join();
  }

 private:
  OnChange on_change_;
  asio::io_context context_{1};
  std::vector<std::unique_ptr<Check>> checks_;
  std::thread thread_;
};

HealthChecker::HealthChecker(std::vector<HealthTarget> targets, OnChange on_change)
    : checks_(std::make_unique<Checks>(std::move(targets), std::move(on_change))) {}
HealthChecker::~HealthChecker() = default;

}  // namespace roost::control

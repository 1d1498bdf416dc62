#include "roost/control/health_checker.h"

#include <fmt/format.h>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "roost/control/dns_message.h"
#include "roost/control/http_attempt.h"
#include "roost/control/http_transfers.h"
#include "roost/control/tcp_attempt.h"
#include "roost/control/udp_attempt.h"

namespace roost::control {

namespace {

// What attempts of all kinds share.
struct Network {
  asio::io_context context{1};
  HttpTransfers transfers{context};
};

std::unique_ptr<CheckAttempt> begin_attempt(Network& network, const HealthTarget& target,
                                            CheckDone done) {
  if (const auto* http = std::get_if<HttpCheck>(&target.kind)) {
    return std::make_unique<HttpAttempt>(network.transfers, target, *http, std::move(done));
  }
  if (const auto* udp = std::get_if<UdpCheck>(&target.kind)) {
    return std::make_unique<UdpAttempt>(
        network.context, target, udp->send,
        [udp](std::string_view answer) { return udp_failure(*udp, answer); }, std::move(done));
  }
  if (const auto* dns = std::get_if<DnsCheck>(&target.kind)) {
    const std::string request = dns_request(*dns);
    return std::make_unique<UdpAttempt>(
        network.context, target, request,
        [dns, request](std::string_view answer) { return dns_failure(*dns, request, answer); },
        std::move(done));
  }
  return std::make_unique<TcpAttempt>(network.context, target, std::move(done));
}

// Servers' bytes may stand in a reason, which is for logs, terminals and JSON.
std::string in_ascii(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_visible = c >= ' ' && c <= '~';
    out += is_visible ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  }
  return out;
}

// One target: a check, a pause, and so on.
class Check {
 public:
  using OnVerdict = std::function<bool(bool is_well, const std::string& failure)>;

  Check(Network& network, HealthTarget target, OnVerdict on_verdict)
      : network_(network),
        timer_(network.context),
        target_(std::move(target)),
        on_verdict_(std::move(on_verdict)),
        failure_(target_.failure),
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
      if (error || number != number_) return;  // it was over at the same time
      const std::chrono::duration<double> seconds = target_.timeout;
      finish(fmt::format("timed out after {:g} s", seconds.count()));
    });
    attempt_ = begin_attempt(network_, target_,
                             [this](const std::string& failure) { finish(in_ascii(failure)); });
  }

  void finish(const std::string& failure) {
    ++number_;
    attempt_.reset();
    const bool is_good = failure.empty();
    streak_ = is_good == was_good_ ? streak_ + 1 : 1;
    was_good_ = is_good;
    if (is_good != is_well_ && streak_ >= (is_good ? target_.rise : target_.fall)) {
      is_well_ = is_good;
      is_told_ = false;
    }
    if (!is_well_ && !is_good && failure != failure_) is_told_ = false;
    if (!is_good || is_well_) failure_ = failure;
    if (!is_told_) is_told_ = on_verdict_(is_well_, is_well_ ? "" : failure_);
    start_after(target_.interval);
  }

  Network& network_;
  asio::steady_timer timer_;
  HealthTarget target_;
  OnVerdict on_verdict_;
  std::unique_ptr<CheckAttempt> attempt_;  // null in a pause
  std::string failure_;                    // the latest
  uint64_t number_ = 0;                    // of the check, or of the pause behind it
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
      checks_.push_back(std::make_unique<Check>(
          network_, std::move(targets[i]), [this, i](bool is_well, const std::string& failure) {
            return on_change_(i, is_well, failure);
          }));
      checks_.back()->start_after(pause);
    }
    thread_ = std::thread([this] {
      block_broken_pipe_signals();
      network_.context.run();
    });
  }
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;
  ~Checks() {
    network_.context.stop();
    thread_.join();
  }

 private:
  OnChange on_change_;
  Network network_;
  std::vector<std::unique_ptr<Check>> checks_;
  std::thread thread_;
};

HealthChecker::HealthChecker(std::vector<HealthTarget> targets, OnChange on_change)
    : checks_(std::make_unique<Checks>(std::move(targets), std::move(on_change))) {}
HealthChecker::~HealthChecker() = default;

}  // namespace roost::control

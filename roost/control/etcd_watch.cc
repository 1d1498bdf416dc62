#include "roost/control/etcd_watch.h"

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "roost/control/http_call.h"
#include "roost/control/http_transfers.h"

namespace roost::control {

namespace {

constexpr size_t kReadingBytesMax = 4U << 20U;  // of a reading
constexpr size_t kWatchLineBytesMax = kReadingBytesMax;

}  // namespace

class EtcdWatch::Follower {
 public:
  explicit Follower(Config config)
      : config_(std::move(config)), transfers_(context_), timer_(context_), thread_([this] {
          block_broken_pipe_signals();
          asio::post(context_, [this] { read(); });
          context_.run();
        }) {}
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() {
    context_.stop();
    thread_.join();
  }

 private:
  void read() {
    timer_.cancel();
    is_changed_ = false;
    answer_.clear();
    reading_ = std::make_unique<HttpCall>(
        transfers_,
        HttpCall::Request{config_.url + "/v3/kv/range", etcd_range_request(config_.prefix),
                          config_.timeout},
        [this](std::string_view part) {
          answer_ += part;
          return answer_.size() <= kReadingBytesMax;
        },
        [this](const std::string& failure) { finish_reading(failure); });
  }

  void finish_reading(const std::string& failure) {
    reading_.reset();
    if (answer_.size() > kReadingBytesMax) return fail("its answer is longer than 4 MiB");
    if (!failure.empty()) return fail(failure);
    Result<EtcdKeys> keys = parse_etcd_range(answer_);
    if (!keys) return fail(keys.error().message);
    if (!is_taken_ || keys.value().values != values_) {
      is_taken_ = config_.on_keys(keys.value());
      values_ = std::move(keys.value().values);
    }
    if (watching_ == nullptr) watch(keys.value().revision);
    if (is_changed_) return read();
    wait(config_.interval);
  }

  void fail(const std::string& reason) {
    is_taken_ = false;
    watching_.reset();
    config_.on_away(reason);
    wait(config_.retry);
  }

  void wait(std::chrono::milliseconds pause) {
    timer_.expires_after(pause);
    timer_.async_wait([this](std::error_code error) {
      if (!error && reading_ == nullptr) read();
    });
  }

  // From the revision behind the one that was read: nothing is missed between the two.
  void watch(int64_t revision) {
    line_.clear();
    watching_ = std::make_unique<HttpCall>(
        transfers_,
        HttpCall::Request{
            config_.url + "/v3/watch", etcd_watch_request(config_.prefix, revision), {}},
        [this](std::string_view part) { return take_part(part); },
        // The next reading begins another one.
        [this](const std::string&) { watching_.reset(); });
  }

  // A line is a message. Whether to go on.
  bool take_part(std::string_view part) {
    for (const char c : part) {
      if (c != '\n') {
        line_ += c;
        continue;
      }
      const Result<bool> is_changed = parse_etcd_watch_line(line_);
      line_.clear();
      if (!is_changed) return false;
      if (is_changed.value()) note_change();
    }
    return line_.size() <= kWatchLineBytesMax;
  }

  // A reading that is under way may be from before the change.
  void note_change() {
    if (std::exchange(is_changed_, true) || reading_ != nullptr) return;
    asio::post(context_, [this] {
      if (reading_ == nullptr) read();
    });
  }

  Config config_;
  asio::io_context context_{1};
  HttpTransfers transfers_;
  asio::steady_timer timer_;
  std::unique_ptr<HttpCall> reading_;   // null between two
  std::unique_ptr<HttpCall> watching_;  // null until keys were read, and when it has ended
  std::string answer_;                  // to a reading, as far as it has come
  std::string line_;                    // of the watch's, likewise
  std::map<std::string, std::string> values_;
  bool is_taken_ = false;    // by whom they are read for
  bool is_changed_ = false;  // since the last reading began
  std::thread thread_;
};

EtcdWatch::EtcdWatch(Config config) : follower_(std::make_unique<Follower>(std::move(config))) {}
EtcdWatch::~EtcdWatch() = default;

}  // namespace roost::control

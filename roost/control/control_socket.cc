#include "roost/control/control_socket.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace roost::control {

namespace {

using Protocol = asio::local::stream_protocol;
using Clock = std::chrono::steady_clock;

// A client that has just connected, or just got an answer, is about to send a request.
constexpr std::chrono::milliseconds kIdleMin{100};

std::string reason(int number) { return std::generic_category().message(number); }

Error failed(const std::string& path, const std::string& why) {
  return Error{"control socket " + path + ": " + why};
}

// Whether a process listens there. A file that is no socket is not removed.
std::optional<Error> check_path(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return failed(path, reason(errno));
  }
  if (!S_ISSOCK(status.st_mode)) return failed(path, "there is a file that is no socket");
  asio::io_context context;
  Protocol::socket probe(context);
  std::error_code error;
  probe.connect(Protocol::endpoint(path), error);
  if (!error) return failed(path, "somebody listens there already; end it, or give another path");
  if (error != asio::error::connection_refused) return failed(path, error.message());
  return {};
}

// The number of a group; -1 leaves the group as it is.
Result<gid_t> find_group(const std::string& path, const std::string& name) {
  if (name.empty()) return static_cast<gid_t>(-1);
  std::vector<char> room(1 << 16);
  struct group entry = {};
  struct group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return failed(path, "there is no group " + name);
  return found->gr_gid;
}

// A client: reads a line, has it answered, writes the answer, and so on, each within the time.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // Called when it has become idle, or is over.
  using OnRest = std::function<void()>;

  Session(Protocol::socket socket, const ControlSocket::Answer& answer, uint32_t seconds_max,
          OnRest on_rest)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        request_(ControlSocket::kRequestBytesMax),
        answer_(answer),
        seconds_max_(seconds_max),
        on_rest_(std::move(on_rest)) {}

  void read() {
    limit_time();
    reads_since_ = Clock::now();
    asio::async_read_until(
        socket_, request_, '\n',
        [self = shared_from_this()](std::error_code error, size_t) { self->have_read(error); });
  }

  // Since when it waits for a request of which nothing new has come; none while it is at one.
  [[nodiscard]] std::optional<Clock::time_point> idle_since() const {
    std::error_code error;
    if (!reads_since_ || (socket_.available(error) != 0 && !error)) return {};
    return reads_since_;
  }

  void disconnect() {
    std::error_code ignored;
    socket_.close(ignored);
  }

  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  // Whatever is under way fails when the time is over, and with it ends the session.
  void limit_time() {
    timer_.expires_after(std::chrono::seconds(seconds_max_));
    timer_.async_wait([weak = weak_from_this()](std::error_code error) {
      const auto self = weak.lock();
      if (!error && self) self->disconnect();
    });
  }

  void have_read(std::error_code error) {
    reads_since_.reset();
    if (error) return end();
    std::istream stream(&request_);
    std::string line;
    std::getline(stream, line);
    reply_ = answer_(line) + "\n";
    limit_time();
    asio::async_write(socket_, asio::buffer(reply_),
                      [self = shared_from_this()](std::error_code write_error, size_t) {
                        if (write_error) return self->end();
                        self->read();
                        self->on_rest_();
                      });
  }

  void end() {
    timer_.cancel();
    disconnect();
    is_over_ = true;
    on_rest_();
  }

  Protocol::socket socket_;
  asio::steady_timer timer_;
  asio::streambuf request_;
  std::string reply_;
  const ControlSocket::Answer& answer_;
  uint32_t seconds_max_;
  OnRest on_rest_;
  std::optional<Clock::time_point> reads_since_;
  bool is_over_ = false;
};

}  // namespace

class ControlSocket::Server {
 public:
  Server(Config config, Answer answer) : config_(std::move(config)), answer_(std::move(answer)) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    if (!thread_.joinable()) return;
    context_.stop();
    thread_.join();
    unlink(config_.path.c_str());
  }

  std::optional<Error> start() {
    if (auto error = check_path(config_.path)) return error;
    if (auto error = listen()) return error;
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return {};
  }

 private:
  // It is made beside its place and renamed, so that it is never there with other permissions.
  std::optional<Error> listen() {
    const Result<gid_t> group = find_group(config_.path, config_.group);
    if (!group) return group.error();
    const std::string made = config_.path + ".new";
    unlink(made.c_str());
    std::error_code error;
    acceptor_.open(Protocol(), error);
    if (!error) acceptor_.bind(Protocol::endpoint(made), error);
    if (error) return failed(config_.path, error.message());
    const bool is_placed = chown(made.c_str(), static_cast<uid_t>(-1), group.value()) == 0 &&
                           chmod(made.c_str(), config_.mode) == 0 &&
                           (acceptor_.listen(kClientsMax, error), !error) &&
                           rename(made.c_str(), config_.path.c_str()) == 0;
    if (is_placed) return {};
    const std::string why = error ? error.message() : reason(errno);
    unlink(made.c_str());
    return failed(config_.path, why);
  }

  void accept() {
    acceptor_.async_accept([this](std::error_code error, Protocol::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        newcomer_.emplace(std::move(socket));
        return admit();
      }
      // No descriptor is left, above all. Some will be.
      look_again_in(std::chrono::seconds(1), [this] { accept(); });
    });
  }

  // Gives the new client a place: a free one, or that of the client idle for longest. While all are
  // busy it waits, and later ones wait in the kernel's backlog.
  void admit() {
    std::erase_if(sessions_, [](const auto& session) { return session->is_over(); });
    if (!newcomer_) return;
    if (sessions_.size() == kClientsMax) {
      const auto longest = std::ranges::min_element(sessions_, {}, [](const auto& session) {
        return session->idle_since().value_or(Clock::time_point::max());
      });
      const auto since = (*longest)->idle_since();
      if (!since) return look_again_in(kIdleMin, [this] { admit(); });
      const auto young_for = *since + kIdleMin - Clock::now();
      if (young_for > Clock::duration::zero()) {
        return look_again_in(young_for, [this] { admit(); });
      }
      (*longest)->disconnect();
      sessions_.erase(longest);
    }
    auto newcomer = std::exchange(newcomer_, std::nullopt);
    if (!newcomer) return;
    sessions_.push_back(std::make_shared<Session>(std::move(*newcomer), answer_,
                                                  config_.seconds_max, [this] { admit(); }));
    sessions_.back()->read();
    accept();
  }

  void look_again_in(Clock::duration pause, std::function<void()> what) {
    pause_.expires_after(pause);
    pause_.async_wait([what = std::move(what)](std::error_code error) {
      if (!error) what();
    });
  }

  Config config_;
  Answer answer_;
  asio::io_context context_{1};
  Protocol::acceptor acceptor_{context_};
  std::vector<std::shared_ptr<Session>> sessions_;
  std::optional<Protocol::socket> newcomer_;  // connected, and waits for a place
  asio::steady_timer pause_{context_};
  std::thread thread_;
};

Result<ControlSocket> ControlSocket::start(const Config& config, Answer answer) {
  auto server = std::make_unique<Server>(config, std::move(answer));
  if (auto error = server->start()) return *error;
  return ControlSocket(std::move(server));
}

ControlSocket::ControlSocket(std::unique_ptr<Server> server) : server_(std::move(server)) {}
ControlSocket::ControlSocket(ControlSocket&&) noexcept = default;
ControlSocket::~ControlSocket() = default;

}  // namespace roost::control

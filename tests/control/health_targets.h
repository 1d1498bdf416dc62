// Servers of a few lines, and what health checks say of them.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "roost/base/file_descriptor.h"
#include "roost/control/health_checker.h"

namespace roost::control {

// A TCP socket that listens on the loopback device; on any port if none is given.
inline FileDescriptor listen_at(uint16_t port) {
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  const int yes = 1;
  setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  EXPECT_EQ(bind(listener.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener.number(), 16), 0);
  return listener;
}

inline uint16_t port_of(const FileDescriptor& socket) {
  sockaddr_in address = {};
  socklen_t bytes = sizeof address;
  getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return ntohs(address.sin_port);
}

// Nobody listens there, a moment after the other.
inline uint16_t free_port() { return port_of(listen_at(0)); }

// Answers every connection with the same text, one after the other; empty: only accepts.
class Server {
 public:
  enum class Manner {
    kPlain,
    kHangs,   // answers when it ends
    kDrips,   // a byte now and then
    kRepeats  // says it again for as long as anybody listens
  };

  explicit Server(uint16_t port, std::string answer = "", Manner manner = Manner::kPlain)
      : socket_(listen_at(port)),
        answer_(std::move(answer)),
        manner_(manner),
        port_(port_of(socket_)),
        thread_([this] { serve(); }) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { end(); }
  [[nodiscard]] uint16_t port() const { return port_; }
  std::atomic<uint64_t> requests = 0;

  // The last request that arrived.
  std::string end() {
    has_ended_ = true;
    has_ended_.notify_all();
    shutdown(socket_.number(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    return last_request_;
  }

 private:
  void serve() {
    for (;;) {
      const FileDescriptor client(accept(socket_.number(), nullptr, nullptr));
      if (client.number() < 0) return;
      ++requests;
      char room[1'024];
      if (manner_ == Manner::kHangs) has_ended_.wait(false);
      if (answer_.empty()) continue;
      const ssize_t count = recv(client.number(), room, sizeof room, 0);
      if (count > 0) last_request_.assign(room, static_cast<size_t>(count));
      if (manner_ == Manner::kDrips) {
        for (const char byte : answer_) {
          if (has_ended_ || !send_all(client, std::string(1, byte))) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        continue;
      }
      while (send_all(client, answer_) && manner_ == Manner::kRepeats && !has_ended_) {
      }
    }
  }
  static bool send_all(const FileDescriptor& client, const std::string& bytes) {
    const ssize_t sent = send(client.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(bytes.size());
  }

  FileDescriptor socket_;
  std::string answer_;
  Manner manner_;
  std::atomic<bool> has_ended_ = false;
  std::string last_request_;
  uint16_t port_ = 0;
  std::thread thread_;
};

// What the checker says, in its order.
class Verdicts {
 public:
  struct Verdict {
    bool is_well;
    std::string failure;
  };

  bool note(bool is_well, const std::string& failure) {
    const std::scoped_lock lock(mutex_);
    all_.push_back({is_well, failure});
    changed_.notify_all();
    return true;
  }
  // The verdict at this place, however long it takes.
  Verdict at(size_t place) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return all_.size() > place; });
    return all_[place];
  }
  size_t count() {
    const std::scoped_lock lock(mutex_);
    return all_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Verdict> all_;
};

// A machine that is busy may take its time to answer.
inline HealthTarget target_at(uint16_t port, const CheckKind& kind = {}) {
  return {.address = net::Ipv4Address{{127, 0, 0, 1}},
          .port = port,
          .kind = kind,
          .interval = std::chrono::milliseconds(20),
          .timeout = std::chrono::minutes(10),
          .rise = 2,
          .fall = 3};
}

// What the first check of a target says: empty if the answer was good.
inline std::string failure_of(HealthTarget target) {
  target.is_well = false;  // and so a bad answer is told as soon as a good one
  target.rise = 1;
  Verdicts verdicts;
  const HealthChecker checker({std::move(target)},
                              [&](size_t, bool is_well, const std::string& failure) {
                                return verdicts.note(is_well, failure);
                              });
  const Verdicts::Verdict first = verdicts.at(0);
  EXPECT_EQ(first.is_well, first.failure.empty());
  return first.failure;
}

}  // namespace roost::control

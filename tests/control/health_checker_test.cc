// Health checks against real servers on this machine: they fall and rise by rule, and only then.
#include "roost/control/health_checker.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "roost/base/file_descriptor.h"

namespace roost::control {
namespace {

using std::chrono::milliseconds;

// Answers every connection with the same text, one after the other; empty: only accepts. One that
// hangs answers when it ends.
class Server {
 public:
  explicit Server(uint16_t port, std::string answer = "", bool hangs = false)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)), answer_(std::move(answer)), hangs_(hangs) {
    const int yes = 1;
    setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(socket_.number(), 16), 0);
    socklen_t bytes = sizeof address;
    getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &bytes);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
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
      if (hangs_) has_ended_.wait(false);
      if (!answer_.empty()) {
        const ssize_t count = recv(client.number(), room, sizeof room, 0);
        if (count > 0) last_request_.assign(room, static_cast<size_t>(count));
        send(client.number(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
      }
    }
  }
  FileDescriptor socket_;
  std::string answer_;
  bool hangs_;
  std::atomic<bool> has_ended_ = false;
  std::string last_request_;
  uint16_t port_ = 0;
  std::thread thread_;
};

// What the checker says, in its order.
class Verdicts {
 public:
  bool note(bool is_well) {
    const std::scoped_lock lock(mutex_);
    all_.push_back(is_well);
    changed_.notify_all();
    return true;
  }
  // The verdict at this place, however long it takes.
  bool at(size_t place) {
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
  std::vector<bool> all_;
};

// A machine that is busy may take its time to answer.
HealthTarget target_at(uint16_t port, std::string path = "") {
  return {.address = net::Ipv4Address{{127, 0, 0, 1}},
          .port = port,
          .http_path = std::move(path),
          .interval = milliseconds(20),
          .timeout = std::chrono::minutes(10),
          .rise = 2,
          .fall = 3};
}

constexpr const char* kGood = "HTTP/1.1 204 No Content\r\n\r\n";
constexpr const char* kBad = "HTTP/1.1 503 Service Unavailable\r\n\r\n";

void wait_for_requests(const Server& server, uint64_t count) {
  while (server.requests < count) std::this_thread::sleep_for(milliseconds(1));
}

TEST(health_checker, a_server_that_ends_falls_and_rises_when_it_is_back) {
  auto server = std::make_unique<Server>(0, kGood);
  const uint16_t port = server->port();
  Verdicts verdicts;
  const HealthChecker checker({target_at(port, "/")},
                              [&](size_t, bool is_well) { return verdicts.note(is_well); });
  wait_for_requests(*server, 5);
  EXPECT_EQ(verdicts.count(), 0U) << "it was well all the time";
  server.reset();
  EXPECT_FALSE(verdicts.at(0));
  server = std::make_unique<Server>(port, kGood);
  EXPECT_TRUE(verdicts.at(1));
  EXPECT_GE(server->requests, 2U) << "after two good answers";
}

TEST(health_checker, without_a_path_who_accepts_is_well) {
  auto server = std::make_unique<Server>(0);
  const uint16_t port = server->port();
  Verdicts verdicts;
  const HealthChecker checker({target_at(port)},
                              [&](size_t, bool is_well) { return verdicts.note(is_well); });
  wait_for_requests(*server, 5);
  EXPECT_EQ(verdicts.count(), 0U) << "it was well all the time";
  server.reset();
  EXPECT_FALSE(verdicts.at(0));
  server = std::make_unique<Server>(port);
  EXPECT_TRUE(verdicts.at(1));
}

TEST(health_checker, who_is_said_to_be_ill_rises_and_who_is_ill_is_not_told_again) {
  Server good(0, kGood);
  Server bad(0, kBad);
  std::array<Verdicts, 2> verdicts;
  {
    std::vector<HealthTarget> targets = {target_at(good.port(), "/"), target_at(bad.port(), "/")};
    for (HealthTarget& target : targets) target.is_well = false;
    const HealthChecker checker(std::move(targets), [&](size_t target, bool is_well) {
      return verdicts[target].note(is_well);
    });
    wait_for_requests(bad, 5);
    ASSERT_EQ(verdicts[1].count(), 0U);
    EXPECT_TRUE(verdicts[0].at(0));
    EXPECT_GE(good.requests, 2U) << "after two good answers";
  }
}

TEST(health_checker, http_goes_by_the_status) {
  Server good(0, kGood);
  Server bad(0, kBad);
  Server odd(0, "hello\r\n");
  Server endless(0, std::string(4'096, 'x'));
  std::array<Verdicts, 4> verdicts;
  {
    const HealthChecker checker(
        {target_at(good.port(), "/health"), target_at(bad.port(), "/"), target_at(odd.port(), "/"),
         target_at(endless.port(), "/")},
        [&](size_t target, bool is_well) { return verdicts[target].note(is_well); });
    for (const Server* server : {&good, &bad, &odd, &endless}) wait_for_requests(*server, 5);
    for (size_t i = 1; i < verdicts.size(); ++i) {
      ASSERT_EQ(verdicts[i].count(), 1U) << i;
      EXPECT_FALSE(verdicts[i].at(0)) << i;
    }
  }
  EXPECT_EQ(verdicts[0].count(), 0U);
  const std::string request = good.end();
  EXPECT_TRUE(request.starts_with("GET /health HTTP/1.0\r\nHost: 127.0.0.1\r\n")) << request;
}

TEST(health_checker, who_answers_too_late_is_not_well) {
  Server slow(0, "HTTP/1.1 200 OK\r\n\r\n", true);
  HealthTarget target = target_at(slow.port(), "/");
  target.timeout = milliseconds(20);
  Verdicts verdicts;
  const HealthChecker checker({target},
                              [&](size_t, bool is_well) { return verdicts.note(is_well); });
  EXPECT_FALSE(verdicts.at(0));
}

TEST(health_checker, a_verdict_that_is_not_taken_is_repeated) {
  std::atomic<int> calls = 0;
  std::unique_ptr<Server> gone = std::make_unique<Server>(0);
  const uint16_t port = gone->port();
  gone.reset();
  const HealthChecker checker({target_at(port)}, [&](size_t, bool) { return ++calls >= 3; });
  while (calls < 3) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(calls, 3) << "and then it is taken";
}

}  // namespace
}  // namespace roost::control

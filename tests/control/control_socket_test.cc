// The control socket: lines in, lines out, and a client can do no more than that.
#include "roost/control/control_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "roost/base/file_descriptor.h"

namespace roost::control {
namespace {

std::string echo(std::string_view request) { return "<" + std::string(request) + ">"; }

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// A client.
class Client {
 public:
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    const sockaddr_un address = address_of(path);
    is_connected =
        connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const timeval wait{.tv_sec = 20, .tv_usec = 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  }

  bool send(const std::string& text) const {
    return ::send(socket_.number(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // A line, or nothing when the other side has ended.
  [[nodiscard]] std::string read() const {
    std::string line;
    char c = 0;
    ssize_t count = 0;
    while ((count = recv(socket_.number(), &c, 1, 0)) == 1) {
      if (c == '\n') return line;
      line.push_back(c);
    }
    EXPECT_TRUE(count == 0 || errno == ECONNRESET) << "it is still connected";
    return "";
  }
  bool is_connected = false;

 private:
  FileDescriptor socket_;
};

class Socket : public testing::Test {
 protected:
  Socket() {
    std::string name = testing::TempDir() + "roost-socket-XXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = directory_ + "/s";
  }
  ~Socket() override { std::filesystem::remove_all(directory_); }

  Result<ControlSocket> start(uint32_t seconds_max = 30) {
    return ControlSocket::start({.path = path_, .mode = 0600, .seconds_max = seconds_max}, echo);
  }
  std::string directory_;
  std::string path_;
};

TEST_F(Socket, answers_line_by_line) {
  const auto socket = start();
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  const Client a(path_);
  const Client b(path_);
  EXPECT_TRUE(a.send("one\ntwo\nthr"));
  EXPECT_TRUE(b.send("other\n"));
  EXPECT_EQ(a.read(), "<one>");
  EXPECT_EQ(a.read(), "<two>");
  EXPECT_EQ(b.read(), "<other>");
  EXPECT_TRUE(a.send("ee\n"));
  EXPECT_EQ(a.read(), "<three>");
}

TEST_F(Socket, has_the_permissions_that_were_asked_for_and_goes_with_its_end) {
  {
    const auto socket = start();
    struct stat status = {};
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(Socket, a_dead_one_is_replaced_and_a_live_one_is_not) {
  {
    const FileDescriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    const sockaddr_un address = address_of(path_);
    ASSERT_EQ(bind(dead.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path_));
  const auto socket = start();
  ASSERT_TRUE(socket.ok()) << socket.error().message;

  const auto second = start();
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("somebody listens"), std::string::npos);
  const Client client(path_);
  EXPECT_TRUE(client.send("still\n"));
  EXPECT_EQ(client.read(), "<still>");
}

TEST_F(Socket, what_is_no_socket_is_left_alone) {
  std::ofstream(path_) << "a file";
  const auto socket = start();
  ASSERT_FALSE(socket.ok());
  EXPECT_NE(socket.error().message.find("no socket"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 6U);
  EXPECT_FALSE(ControlSocket::start({.path = directory_ + "/none/s"}, echo).ok());
  const auto group = ControlSocket::start({.path = path_ + "2", .group = "no-such-group"}, echo);
  ASSERT_FALSE(group.ok());
  EXPECT_NE(group.error().message.find("no group"), std::string::npos);
}

TEST_F(Socket, a_request_without_an_end_ends_the_connection) {
  const auto socket = start();
  const Client client(path_);
  client.send(std::string(ControlSocket::kRequestBytesMax + 1, 'x'));
  EXPECT_EQ(client.read(), "");
  const Client other(path_);
  EXPECT_TRUE(other.send("y\n"));
  EXPECT_EQ(other.read(), "<y>");
}

TEST_F(Socket, a_new_client_gets_the_place_of_who_has_been_idle_for_longest) {
  const auto socket = start();
  std::vector<std::unique_ptr<Client>> idle;
  for (size_t i = 0; i < ControlSocket::kClientsMax; ++i) {
    idle.push_back(std::make_unique<Client>(path_));
    EXPECT_TRUE(idle.back()->send("first\n"));
    ASSERT_EQ(idle.back()->read(), "<first>");
  }
  EXPECT_TRUE(idle[1]->send("half")) << "which is no request yet";
  // The first one has asked since the others came.
  EXPECT_TRUE(idle[0]->send("x\n"));
  EXPECT_EQ(idle[0]->read(), "<x>");
  for (size_t i = 1; i <= 3; ++i) {
    auto late = std::make_unique<Client>(path_);
    EXPECT_TRUE(late->send("z\n"));
    EXPECT_EQ(late->read(), "<z>");
    EXPECT_EQ(idle[i]->read(), "") << "client " << i << " has been idle for longest";
    idle[i] = std::move(late);
  }
  for (const auto& client : idle) {
    EXPECT_TRUE(client->send("still\n"));
    EXPECT_EQ(client->read(), "<still>");
  }
}

TEST_F(Socket, nobody_who_has_asked_is_turned_away_for_a_new_client) {
  const auto socket =
      ControlSocket::start({.path = path_, .mode = 0600}, [&](std::string_view request) {
        if (request == "long") std::this_thread::sleep_for(std::chrono::milliseconds(500));
        return echo(request);
      });
  std::vector<std::unique_ptr<Client>> clients;
  for (size_t i = 0; i < ControlSocket::kClientsMax; ++i) {
    clients.push_back(std::make_unique<Client>(path_));
    EXPECT_TRUE(clients.back()->send("a\n"));
    EXPECT_EQ(clients.back()->read(), "<a>");
  }
  // All are idle for longer than it takes to give way, and send while one is answered.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(clients[0]->send("long\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const Client late(path_);
  EXPECT_TRUE(late.send("late\n"));
  for (size_t i = 1; i < clients.size(); ++i) EXPECT_TRUE(clients[i]->send("b\n"));
  for (size_t i = 1; i < clients.size(); ++i) EXPECT_EQ(clients[i]->read(), "<b>");
  EXPECT_EQ(clients[0]->read(), "<long>");
  EXPECT_EQ(late.read(), "<late>");
}

TEST_F(Socket, an_idle_client_is_disconnected) {
  const auto socket = start(1);
  const Client client(path_);
  EXPECT_EQ(client.read(), "") << "too slow";
  const Client next(path_);
  EXPECT_TRUE(next.send("z\n"));
  EXPECT_EQ(next.read(), "<z>");
}

TEST_F(Socket, who_does_not_read_the_answer_is_disconnected) {
  const auto socket =
      ControlSocket::start({.path = path_, .mode = 0600, .seconds_max = 1},
                           [](std::string_view) { return std::string(8 << 20, 'a'); });
  const Client client(path_);
  EXPECT_TRUE(client.send("much\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2'000));
  EXPECT_EQ(client.read(), "") << "what is left has no end";
}

}  // namespace
}  // namespace roost::control

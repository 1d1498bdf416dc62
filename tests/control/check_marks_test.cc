// Health checks whose packets the kernel routes by a mark, in a network namespace of their own.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "roost/control/health_checker.h"
#include "roost/control/socket_mark.h"
#include "tests/control/health_targets.h"
#include "tests/control/program.h"

namespace roost::control {
namespace {

constexpr uint32_t kMark = 101;
constexpr const char* kVirtual = "198.51.100.80";
constexpr const char* kVirtual6 = "2001:db8:ffff::80";

// This process leaves its network; whoever looks for the virtual addresses finds them by the mark.
// IPv4 answers as an address of its own only, so that one is there, behind the rules about it.
bool enter_network() {
  if (unshare(CLONE_NEWNET) != 0) {
    std::cout << "NOT TESTED: checks by marks, network namespaces refused ("
              << std::generic_category().message(errno) << ")\n";
    return false;
  }
  const std::string mark = std::to_string(kMark);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"link", "set", "lo", "up"},
           {"address", "add", "192.0.2.9/32", "dev", "lo"},
           {"address", "add", std::string(kVirtual) + "/32", "dev", "lo"},
           {"rule", "add", "priority", "10", "fwmark", mark, "table", mark},
           {"rule", "add", "priority", "20", "to", kVirtual, "unreachable"},
           {"rule", "add", "priority", "30", "table", "local"},
           {"rule", "delete", "priority", "0"},
           {"-6", "rule", "add", "fwmark", mark, "table", mark},
           {"route", "add", "local", kVirtual, "dev", "lo", "src", "192.0.2.9", "table", mark},
           {"-6", "route", "add", "local", kVirtual6, "dev", "lo", "src", "::1", "table", mark}}) {
    std::vector<std::string> command = words;
    command.insert(command.begin(), "ip");
    Program ip(command);
    EXPECT_EQ(ip.wait(), 0) << words[0] << ' ' << words[1] << ' ' << words.back();
  }
  return true;
}

FileDescriptor listen_everywhere(int type) {
  FileDescriptor listener(::socket(AF_INET6, type, 0));
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  EXPECT_EQ(bind(listener.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(listen(listener.number(), 16), 0);
  }
  return listener;
}

uint16_t port6_of(const FileDescriptor& socket) {
  sockaddr_in6 address = {};
  socklen_t bytes = sizeof address;
  getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return ntohs(address.sin6_port);
}

std::string failure_at(const char* address, uint16_t port, uint32_t mark, const CheckKind& kind) {
  HealthTarget target = target_at(port, kind);
  target.address = net::IpAddress::parse(address).value();
  target.mark = mark;
  target.timeout = std::chrono::seconds(5);
  return failure_of(target);
}

TEST(check_marks, who_is_found_by_its_mark_alone_is_well_by_its_mark_alone) {
  if (!enter_network()) {
    const char* ci = std::getenv("CI");
    ASSERT_FALSE(ci != nullptr && std::string_view(ci) == "true");
    return;
  }
  const FileDescriptor tcp = listen_everywhere(SOCK_STREAM);
  for (const char* address : {kVirtual, kVirtual6}) {
    EXPECT_EQ(failure_at(address, port6_of(tcp), kMark, TcpCheck{}), "") << address;
    EXPECT_NE(failure_at(address, port6_of(tcp), kMark + 1, TcpCheck{}), "") << address;
    EXPECT_NE(failure_at(address, port6_of(tcp), 0, TcpCheck{}), "") << address;
  }
  // Nobody answers what is asked for, but it arrives, or it is refused.
  const uint16_t nobody = free_port();
  EXPECT_EQ(failure_at(kVirtual, nobody, kMark, HttpCheck{}), "Connection refused");
  EXPECT_EQ(failure_at(kVirtual, nobody, 0, HttpCheck{}), "Network is unreachable");
  EXPECT_EQ(failure_at(kVirtual, nobody, kMark, UdpCheck{.send = "x"}), "Connection refused");
  EXPECT_EQ(failure_at(kVirtual, nobody, 0, UdpCheck{.send = "x"}), "Network is unreachable");
}

TEST(check_marks, a_socket_that_cannot_have_a_mark_says_so) {
  EXPECT_EQ(mark_socket(-1, 0), "");
  EXPECT_EQ(mark_socket(-1, 7), "its sockets cannot have the mark 7: Bad file descriptor");
}

}  // namespace
}  // namespace roost::control

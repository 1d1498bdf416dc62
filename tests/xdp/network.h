// Network namespaces and wires between them, for a test that is all of them.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

#include "roost/base/file_descriptor.h"
#include "tests/xdp/frames.h"

namespace roost::xdp {

// Runs a command of `ip` or `ethtool` in the thread's network namespace.
inline void run_command(const std::string& command) {
  // NOLINTNEXTLINE(bugprone-command-processor): the commands are this test's own
  ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
}

// A namespace of its own; it ends with this object.
class NetworkNamespace {
 public:
  NetworkNamespace() : number_(make()) {}

  // In it: a thread of its own, so that this one stays where it is.
  template <class Run>
  void inside(Run&& run) const {
    std::thread([&] {
      ASSERT_EQ(::setns(number_.number(), CLONE_NEWNET), 0);
      run();
    }).join();
  }
  // As `ip link` takes it.
  [[nodiscard]] std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(number_.number());
  }

 private:
  static FileDescriptor make() {
    int number = -1;
    std::thread([&] {
      if (::unshare(CLONE_NEWNET) != 0) return;
      run_command("ip link set lo up");
      number = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    }).join();
    return FileDescriptor(number);
  }

  FileDescriptor number_;
};

// A wire from an interface of one namespace to one of another; `gro on` at its ends, without which
// veth takes no redirected frames.
inline void connect(const NetworkNamespace& near, const std::string& near_name,
                    const NetworkNamespace& far, const std::string& far_name) {
  near.inside([&] {
    run_command("ip link add " + near_name + " type veth peer name " + far_name + " netns " +
                far.path());
    run_command("sysctl -q -w net.ipv6.conf." + near_name + ".disable_ipv6=1");
    run_command("ip link set " + near_name + " up");
    run_command("ethtool -K " + near_name + " gro on");
  });
  far.inside([&] {
    run_command("sysctl -q -w net.ipv6.conf." + far_name + ".disable_ipv6=1");
    run_command("ip link set " + far_name + " promisc on up");
    run_command("ethtool -K " + far_name + " gro on");
  });
}

// All frames at an interface; a socket stays in the namespace that it was made in.
class FrameSocket {
 public:
  FrameSocket(const NetworkNamespace& where, const std::string& interface) {
    int number = -1;
    where.inside([&] {
      number = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
      sockaddr_ll address{};
      address.sll_family = AF_PACKET;
      address.sll_protocol = htons(ETH_P_ALL);
      address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
      ASSERT_EQ(::bind(number, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      constexpr int kBytes = 1 << 24;
      ::setsockopt(number, SOL_SOCKET, SO_RCVBUFFORCE, &kBytes, sizeof kBytes);
    });
    number_ = number;
  }
  FrameSocket(const FrameSocket&) = delete;
  FrameSocket& operator=(const FrameSocket&) = delete;
  ~FrameSocket() { ::close(number_); }

  [[nodiscard]] bool send(const Frame& frame) const {
    return ::send(number_, frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size());
  }
  // The next one that arrived; an empty one if none comes in so many milliseconds.
  [[nodiscard]] Frame receive(int wait_ms) const {
    for (;;) {
      pollfd wait{.fd = number_, .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, wait_ms) != 1) return {};
      Frame frame(2'048);
      sockaddr_ll from{};
      socklen_t from_bytes = sizeof from;
      const ssize_t size = ::recvfrom(number_, frame.data(), frame.size(), 0,
                                      reinterpret_cast<sockaddr*>(&from), &from_bytes);
      if (size < 0) return {};
      if (from.sll_pkttype == PACKET_OUTGOING) continue;
      frame.resize(static_cast<size_t>(size));
      return frame;
    }
  }

 private:
  int number_ = -1;
};

}  // namespace roost::xdp

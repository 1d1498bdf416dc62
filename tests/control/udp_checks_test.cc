// Health checks by UDP and DNS, against dnsmasq and against servers that say what none should.
#include <arpa/nameser.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "roost/base/file_descriptor.h"
#include "roost/control/dns_message.h"
#include "roost/control/health_checker.h"
#include "tests/control/health_targets.h"
#include "tests/control/program.h"

namespace roost::control {
namespace {

FileDescriptor udp_socket() {
  FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// Answers each datagram; not at all where it has nothing to say.
class UdpServer {
 public:
  using Answer = std::function<std::optional<std::string>(const std::string& request)>;

  explicit UdpServer(Answer answer)
      : socket_(udp_socket()), answer_(std::move(answer)), thread_([this] { serve(); }) {}
  UdpServer(const UdpServer&) = delete;
  UdpServer& operator=(const UdpServer&) = delete;
  ~UdpServer() {
    shutdown(socket_.number(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] uint16_t port() const { return port_of(socket_); }

 private:
  void serve() {
    for (;;) {
      char room[1'500];
      sockaddr_in from = {};
      socklen_t from_bytes = sizeof from;
      const ssize_t bytes = recvfrom(socket_.number(), room, sizeof room, 0,
                                     reinterpret_cast<sockaddr*>(&from), &from_bytes);
      if (bytes <= 0) return;
      const auto answer = answer_(std::string(room, static_cast<size_t>(bytes)));
      if (!answer) continue;
      sendto(socket_.number(), answer->data(), answer->size(), 0,
             reinterpret_cast<const sockaddr*>(&from), from_bytes);
    }
  }
  FileDescriptor socket_;
  Answer answer_;
  std::thread thread_;
};

std::optional<std::string> say_it_again(const std::string& request) { return request + "!"; }

TEST(udp_checks, an_answer_is_good_if_it_contains_what_is_expected) {
  const UdpServer server(say_it_again);
  const std::string bytes("\0\xff\0", 3);
  EXPECT_EQ(failure_of(target_at(server.port(), UdpCheck{.send = "ping"})), "");
  EXPECT_EQ(failure_of(target_at(server.port(), UdpCheck{.send = "ping", .expect = "ing!"})), "");
  EXPECT_EQ(failure_of(target_at(server.port(), UdpCheck{.send = bytes, .expect = bytes})), "");
  EXPECT_EQ(failure_of(target_at(server.port(), UdpCheck{.send = "ping", .expect = bytes})),
            "its answer does not contain \"\\x00\\xff\\x00\"");
  const UdpServer empty([](const std::string&) { return std::string(); });
  EXPECT_EQ(failure_of(target_at(empty.port(), UdpCheck{.send = "ping"})), "");
  const UdpServer long_answer([](const std::string&) { return std::string(60'000, 'x') + "end"; });
  EXPECT_EQ(failure_of(target_at(long_answer.port(), UdpCheck{.send = "ping", .expect = "end"})),
            "");
}

TEST(udp_checks, a_port_that_nobody_has_is_refused_at_once) {
  HealthTarget target = target_at(port_of(udp_socket()), UdpCheck{.send = "ping"});
  target.timeout = std::chrono::seconds(10);
  EXPECT_EQ(failure_of(target), "Connection refused");
}

TEST(udp_checks, who_says_nothing_is_out_of_time) {
  const UdpServer silent([](const std::string&) { return std::nullopt; });
  HealthTarget target = target_at(silent.port(), UdpCheck{.send = "ping"});
  target.timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(failure_of(target), "timed out after 0.05 s");
}

TEST(udp_checks, a_name_server_answers_what_is_expected) {
  const uint16_t port = free_port();
  const Program dnsmasq({"/usr/sbin/dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null",
                         "--no-resolv", "--no-hosts", "--user=root",
                         "--pid-file=", "--bind-interfaces", "--listen-address=127.0.0.1",
                         "--port=" + std::to_string(port), "--local=/test/",
                         "--host-record=up.test,192.0.2.1"});
  const auto answered = [&](const DnsCheck& check) { return failure_of(target_at(port, check)); };
  while (answered({.name = "up.test"}) == "Connection refused") {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(answered({.name = "up.test"}), "");
  EXPECT_EQ(answered({.name = "UP.test."}), "");
  EXPECT_EQ(answered({.name = "up.test", .type = ns_t_aaaa}), "") << "there is such a name";
  EXPECT_EQ(answered({.name = "down.test"}), "it answers NXDOMAIN instead of NOERROR");
  EXPECT_EQ(answered({.name = "down.test", .rcode = ns_r_nxdomain}), "");
  EXPECT_EQ(answered({.name = "elsewhere.example"}), "it answers REFUSED instead of NOERROR");
  EXPECT_EQ(answered({.name = "elsewhere.example", .rcode = ns_r_refused}), "");
}

// The answer of a server that knows the name but no record of it.
std::string answer_to(std::string request) {
  request[2] = static_cast<char>(request[2] | '\x80');
  return request;
}

TEST(udp_checks, an_answer_to_another_request_is_bad) {
  const DnsCheck check = {.name = "www.example.org"};
  const std::string request = dns_request(check);
  const std::string answer = answer_to(request);
  EXPECT_EQ(dns_failure(check, request, answer), "");
  EXPECT_NE(dns_failure(check, request, request), "") << "it is a request";
  std::set<std::string> identifiers;
  for (int i = 0; i < 10; ++i) identifiers.insert(dns_request(check).substr(0, 2));
  EXPECT_GT(identifiers.size(), 1U) << "random";
  std::string other = answer;
  other[0] = static_cast<char>(other[0] ^ 1);
  EXPECT_EQ(dns_failure(check, request, other), "its answer is to another request");
  for (const DnsCheck& elsewhere :
       {DnsCheck{.name = check.name, .type = ns_t_aaaa}, DnsCheck{.name = "www.example.net"}}) {
    const std::string guessed = request.substr(0, 2) + answer_to(dns_request(elsewhere)).substr(2);
    EXPECT_EQ(dns_failure(check, request, guessed), "its answer is to another request");
  }
  std::string loud = answer;
  std::ranges::transform(loud.begin() + NS_HFIXEDSZ, loud.end(), loud.begin() + NS_HFIXEDSZ,
                         [](char c) { return c == 'w' ? 'W' : c; });
  EXPECT_EQ(dns_failure(check, request, loud), "");

  std::string bare = answer.substr(0, NS_HFIXEDSZ);
  bare[5] = 0;  // without the request
  EXPECT_EQ(dns_failure(check, request, bare), "its answer is to another request");
  bare[3] = static_cast<char>(ns_r_refused);
  EXPECT_EQ(dns_failure({.name = check.name, .rcode = ns_r_refused}, request, bare), "");
  bare[3] = 15;
  EXPECT_EQ(dns_failure(check, request, bare), "it answers code 15 instead of NOERROR");
}

TEST(udp_checks, bytes_of_any_kind_are_no_dns_answer) {
  const DnsCheck check = {.name = "www.example.org"};
  const std::string request = dns_request(check);
  const std::string answer = answer_to(request);
  for (size_t bytes = 0; bytes < answer.size(); ++bytes) {
    EXPECT_NE(dns_failure(check, request, answer.substr(0, bytes)), "") << bytes;
  }
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = answer + std::string(random() % 64, '\xc0');  // compression, in circles
    for (size_t j = random() % 8 + 1; j > 0; --j) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    static_cast<void>(dns_failure(check, request, changed));
  }
}

}  // namespace
}  // namespace roost::control

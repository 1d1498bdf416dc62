// Routes that a routing daemon learns, in a network namespace of their own.
#include "roost/control/announced_routes.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace roost::control {
namespace {

const std::vector<net::IpAddress> kAddresses = {net::IpAddress::parse("198.51.100.80").value(),
                                                net::IpAddress::parse("2001:db8:ffff::80").value()};

bool enter_network() {
  if (unshare(CLONE_NEWNET) == 0) return true;
  std::cout << "NOT TESTED: announced routes, network namespaces refused ("
            << std::generic_category().message(errno) << ")\n";
  return false;
}

std::string output_of(const std::string& command) {
  std::string text;
  // NOLINTNEXTLINE(bugprone-command-processor): the commands are this test's own
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

// Those of the table, in both families, as far as the first word.
std::string routes() {
  return output_of(
      "{ ip route show table 4343; ip -6 route show table 4343 proto 198; } 2>/dev/null |"
      " sed 's/ .*//' | tr '\\n' ' '");
}

AnnouncedRoutes routes_of(const std::string& device) {
  auto made = AnnouncedRoutes::create({device, 4343});
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return std::move(made).value();
}

TEST(announced_routes, are_those_that_were_set_last_and_end_with_their_owner) {
  if (!enter_network()) return;
  {
    AnnouncedRoutes announced = routes_of("roost");
    EXPECT_EQ(announced.set(kAddresses), std::nullopt);
    EXPECT_EQ(routes(), "198.51.100.80 2001:db8:ffff::80 ");
    EXPECT_EQ(announced.set(kAddresses), std::nullopt) << "again";
    EXPECT_EQ(announced.set({kAddresses.data(), 1}), std::nullopt);
    EXPECT_EQ(routes(), "198.51.100.80 ");
    // Somebody has taken it away: that is what was wanted.
    EXPECT_EQ(output_of("ip route flush table 4343"), "");
    EXPECT_EQ(announced.set({}), std::nullopt);
    EXPECT_EQ(announced.set(kAddresses), std::nullopt);
  }
  EXPECT_EQ(routes(), "");
}

TEST(announced_routes, end_with_a_process_that_is_killed) {
  if (!enter_network()) return;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    AnnouncedRoutes announced = routes_of("roost");
    const char is_set = announced.set(kAddresses) ? 'n' : 'y';
    if (write(ready[1], &is_set, 1) == 1) pause();
    _exit(1);
  }
  char is_set = 0;
  EXPECT_EQ(read(ready[0], &is_set, 1), 1);
  EXPECT_EQ(is_set, 'y');
  EXPECT_EQ(routes(), "198.51.100.80 2001:db8:ffff::80 ");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(routes(), "");
}

TEST(announced_routes, stand_while_they_go_from_one_owner_to_the_next) {
  if (!enter_network()) return;
  std::optional<AnnouncedRoutes> first(routes_of("roost"));
  EXPECT_EQ(first->set(kAddresses), std::nullopt);
  auto next = AnnouncedRoutes::adopt({"roost", 4343}, first->share_device(), first->routed());
  ASSERT_TRUE(next.ok()) << next.error().message;
  first.reset();
  EXPECT_EQ(routes(), "198.51.100.80 2001:db8:ffff::80 ");
  // It knows what it has: one goes, the other one stays.
  EXPECT_EQ(next.value().set({kAddresses.data(), 1}), std::nullopt);
  EXPECT_EQ(routes(), "198.51.100.80 ");
  { const AnnouncedRoutes last = std::move(next).value(); }
  EXPECT_EQ(routes(), "");
}

TEST(announced_routes, a_device_of_somebody_else_is_refused_with_its_name) {
  if (!enter_network()) return;
  const AnnouncedRoutes first = routes_of("roost");
  const auto second = AnnouncedRoutes::create({"roost", 4344});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("the TUN device roost cannot be made"), std::string::npos)
      << second.error().message;
}

}  // namespace
}  // namespace roost::control

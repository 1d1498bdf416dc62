// What the control tells the log of events.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/lb/controlled.h"

namespace roost::lb {
namespace {

using Lines = std::vector<std::string>;

TEST_F(Controlled, what_becomes_of_a_backend_is_told_once) {
  const Control::CheckedBackend second_of_web{.family = 0, .index = 1};
  const auto set_health = [&](bool is_well, const std::string& failure) {
    return while_serving([&] { return control_->set_health(second_of_web, is_well, failure); });
  };
  EXPECT_FALSE(set_health(false, "Connection refused"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(set_health(false, "timed out after 2 s"));
  EXPECT_EQ(
      take_events(),
      (Lines{"<4>backend b2 of web (10.0.0.12:8080) fails its checks: Connection refused\n"}));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(set_health(true, ""));
  EXPECT_EQ(take_events(),
            (Lines{"<5>backend b2 of web (10.0.0.12:8080) is well again, say its checks\n"}));
  for (const auto& [action, words] :
       {std::pair("drain", "drained"), std::pair("down", "marked down"),
        std::pair("up", "up again")}) {
    must({{"command", "backend"}, {"action", action}, {"name", "b2"}, {"service", "web"}});
    EXPECT_EQ(take_events(),
              (Lines{fmt::format(
                  "<5>backend b2 of web (10.0.0.12:8080) is {}, as an operator said\n", words)}));
  }
}

TEST_F(Controlled, a_reload_is_told_whatever_comes_of_it) {
  EXPECT_TRUE(reload(test_config("weight = 2", "weight = 3")).ok());
  const Lines taken = take_events();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_TRUE(taken[0].starts_with("<5>the configuration was taken: ")) << taken[0];
  EXPECT_FALSE(reload(test_config("weight = 2", "height = 3")).ok());
  const Lines refused = take_events();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_TRUE(refused[0].starts_with("<3>" + config_path() + ":")) << refused[0];
  EXPECT_EQ(refused[1], "<3>the configuration was not taken; nothing has changed\n");
}

}  // namespace
}  // namespace roost::lb

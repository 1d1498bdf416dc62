// The commands of several functions as one list: nothing of a function is lost behind another's.
#include "apps/ctl/command_union.h"

#include <gtest/gtest.h>

#include <array>

namespace roost::ctl {

namespace {

using control::Command;
using control::Parameter;

constexpr std::array kSwitchParameters = {
    Parameter{.name = "action",
              .is_positional = true,
              .is_required = true,
              .choices = "list count",
              .help = "list or count"},
    Parameter{.name = "port", .is_required = true, .help = "only this port"}};
constexpr std::array kNatParameters = {Parameter{.name = "action",
                                                 .is_positional = true,
                                                 .is_required = true,
                                                 .choices = "count delete",
                                                 .help = "count or delete"}};
constexpr std::array kSwitch = {
    Command{.name = "version", .help = "what runs"},
    Command{.name = "entries", .help = "the stations", .parameters = kSwitchParameters},
    Command{.name = "stats", .help = "frames"}};
constexpr std::array kNat = {
    Command{.name = "stats", .help = "packets"}, Command{.name = "version", .help = "what runs"},
    Command{.name = "entries", .help = "the bindings", .parameters = kNatParameters}};
constexpr std::array kBoth = {FunctionCommands{"switch", kSwitch}, FunctionCommands{"nat", kNat}};

TEST(CommandUnion, has_each_name_once_in_the_order_of_the_first_function) {
  const std::vector<JoinedCommand> commands = join_commands(kBoth);
  ASSERT_EQ(commands.size(), 3);
  EXPECT_EQ(commands[0].name, "version");
  EXPECT_EQ(commands[1].name, "entries");
  EXPECT_EQ(commands[2].name, "stats");
}

TEST(CommandUnion, says_what_each_function_says) {
  const std::vector<JoinedCommand> commands = join_commands(kBoth);
  EXPECT_EQ(commands[0].help, "what runs");
  EXPECT_EQ(commands[2].help, "switch: frames; nat: packets");
}

TEST(CommandUnion, names_the_functions_of_what_not_all_have) {
  const std::vector<JoinedCommand> commands =
      join_commands(std::array{kBoth[0], FunctionCommands{"wire", std::span(kNat).subspan(1, 1)}});
  EXPECT_EQ(commands[0].help, "what runs");
  EXPECT_EQ(commands[1].help, "switch: the stations");
}

TEST(CommandUnion, takes_what_any_function_takes) {
  const JoinedCommand entries = join_commands(kBoth)[1];
  ASSERT_EQ(entries.parameters.size(), 2);
  const JoinedParameter& action = entries.parameters[0];
  EXPECT_EQ(action.choices, (std::vector<std::string>{"list", "count", "delete"}));
  EXPECT_EQ(action.help, "switch: list or count; nat: count or delete");
  EXPECT_TRUE(action.is_required);
  EXPECT_EQ(entries.parameters[1].help, "switch: only this port");
  EXPECT_FALSE(entries.parameters[1].is_required) << "nat knows no ports";
}

}  // namespace

}  // namespace roost::ctl

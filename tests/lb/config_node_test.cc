// What the configuration says of a node among several: [announce], and etcd in [control].
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/lb/config/config_change.h"
#include "tests/lb/refused_config.h"

namespace roost::lb {
namespace {

Config parsed(const std::string& tables) {
  ConfigOutcome outcome = parse_config(test_config() + tables);
  EXPECT_TRUE(outcome.faults.empty()) << outcome.faults.front().text;
  return outcome.config.value_or(Config());
}

// All faults of the test's configuration with these tables behind it.
std::string faults_of(const std::string& tables) {
  std::string text;
  for (const config::Fault& fault : parse_config(test_config() + tables).faults) {
    text += fault.text + "\n";
  }
  return text;
}

TEST(config, a_node_announces_and_has_a_store_if_its_file_says_so) {
  EXPECT_FALSE(parsed("").announce.has_value());
  EXPECT_EQ(parsed("").control.etcd, "");
  const Config config =
      parsed("[announce]\ntable = 4343\n[control]\netcd = \"http://127.0.0.1:2379/\"\n");
  ASSERT_TRUE(config.announce.has_value());
  EXPECT_EQ(config.announce, (AnnounceConfig{.device = "roost", .table = 4343, .stop_seconds = 2}));
  EXPECT_EQ(config.control.etcd, "http://127.0.0.1:2379");
  EXPECT_EQ(config.control.etcd_prefix, "/roost/");
}

TEST(config, refuses_what_can_be_no_table_device_or_store) {
  for (const auto& [tables, fault] : std::vector<std::pair<std::string, std::string>>{
           {"[announce]\n", "[announce] has no table"},
           {"[announce]\ntable = 254\n", "the host's own routes stand in 254"},
           {"[announce]\ntable = 0\n", "table"},
           {"[announce]\ntable = 1\ndevice = \"\"\n", "network device's name"},
           {"[announce]\ntable = 1\ndevice = \"a/b\"\n", "network device's name"},
           {"[announce]\ntable = 1\ndevice = \"r%d\"\n", "network device's name"},
           {"[announce]\ntable = 1\ndevice = \"sixteen-letters-\"\n", "network device's name"},
           {"[announce]\ntable = 1\nstop_seconds = -1\n", "give 0 to 60"},
           {"[announce]\ntable = 1\nstop_seconds = nan\n", "give 0 to 60"},
           {"[announce]\ntable = 1\nmed = 1\n", "med"},
           {"[control]\netcd = \"127.0.0.1:2379\"\n", "is no URL of etcd's"},
           {"[control]\netcd = \"http://\"\n", "is no URL of etcd's"},
           {"[control]\netcd = \"\"\n", "is no URL of etcd's"},
           {"[control]\netcd = \"http://a\"\netcd_prefix = \"/a\"\n", "no slash at its end"},
           {"[control]\netcd_prefix = \"/a/\"\n", "nothing is read without etcd"}}) {
    EXPECT_NE(faults_of(tables).find(fault), std::string::npos) << tables << faults_of(tables);
  }
  std::string slashed = test_config("name = \"web\"", "name = \"we/b\"");
  EXPECT_TRUE(parse_config(slashed).faults.empty());
  slashed += "[control]\netcd = \"http://a\"\n";
  ASSERT_EQ(parse_config(slashed).faults.size(), 1U);
  EXPECT_EQ(parse_config(slashed).faults[0].text,
            "[[service]] we/b: a name with a slash stands in no key of etcd's; choose another");
}

TEST(config, announcements_and_the_store_cannot_change_in_a_run) {
  const std::string both = "[announce]\ntable = 4343\n[control]\netcd = \"http://a\"\n";
  for (const char* other :
       {"", "[announce]\ntable = 4344\n[control]\netcd = \"http://a\"\n",
        "[announce]\ntable = 4343\n[control]\netcd = \"http://b\"\n",
        "[announce]\ntable = 4343\n[control]\netcd = \"http://a\"\netcd_prefix = \"/x/\"\n"}) {
    EXPECT_FALSE(refused_changes(parsed(both), parsed(other), {true, true}).empty()) << other;
  }
  EXPECT_TRUE(refused_changes(parsed(both), parsed("\n\n" + both), {true, true}).empty());
}

}  // namespace
}  // namespace roost::lb

// The classifier's configuration and its flows: taken, or refused with all that is wrong.
#include "apps/classify/config/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "apps/classify/datapath/state.h"

namespace roost::classifying {
namespace {

const std::string kToml = "[classify]\nflows = \"flows.txt\"\n[[port]]\n[[port]]\n";

std::string faults_of(const ConfigOutcome& outcome) {
  std::string text;
  for (const config::Fault& fault : outcome.faults)
    text += config::describe(fault, "c.toml") + "\n";
  return text;
}

TEST(ClassifyConfig, defaults) {
  const ConfigOutcome outcome = parse_config(kToml, "actions=output:2\n");
  ASSERT_TRUE(outcome.config.has_value()) << faults_of(outcome);
  EXPECT_EQ(outcome.config->ports.size(), 2U);
  EXPECT_EQ(outcome.config->flows.size(), 1U);
  EXPECT_EQ(outcome.config->connections, 0U);
  EXPECT_NE(outcome.config->classifier().cache_entries, 0U);
  EXPECT_FALSE(outcome.config->classifier().is_cache_always_used);
}

TEST(ClassifyConfig, the_layers_can_be_left_out) {
  const auto classifier = [](const std::string& words) {
    return parse_config("[classify]\nflows = \"f\"\n" + words + "\n[[port]]\n", "")
        .config.value()
        .classifier();
  };
  EXPECT_EQ(classifier("exact_match_cache = \"off\"").cache_entries, 0U);
  EXPECT_TRUE(classifier("exact_match_cache = \"on\"").is_cache_always_used);
  EXPECT_FALSE(classifier("megaflows = false").has_megaflows);
}

TEST(ClassifyConfig, every_fault_of_the_flows_is_told_with_its_line) {
  const ConfigOutcome outcome =
      parse_config(kToml, "actions=output:3\n\nip,actions=ct(commit)\ntcpp,actions=drop\n");
  EXPECT_FALSE(outcome.config.has_value());
  EXPECT_EQ(outcome.faults.size(), 3U);
  const std::string text = faults_of(outcome);
  EXPECT_NE(text.find("c.toml:2: flows.txt:1: 'output:3': there is no such port; give 1 to 2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("flows.txt:3: 'ct': no connections are tracked; give [classify] connections"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("flows.txt:4: 'tcpp'"), std::string::npos) << text;
}

TEST(ClassifyConfig, wrong_words_and_missing_parts_are_told) {
  const std::string text =
      faults_of(parse_config("[classify]\nflow = \"f\"\n[[port]]\nmac = 1\n", ""));
  EXPECT_NE(text.find("unknown key \"flow\" in [classify]"), std::string::npos) << text;
  EXPECT_NE(text.find("flows = \"flows.txt\""), std::string::npos) << text;
  EXPECT_NE(text.find("unknown key \"mac\" in [[port]]"), std::string::npos) << text;
  EXPECT_FALSE(parse_config("", "").config.has_value());
}

TEST(ClassifyConfig, flows_stand_beside_the_configuration) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "classify_config_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "c.toml") << kToml;
  std::filesystem::remove(folder / "flows.txt");
  EXPECT_NE(faults_of(read_config((folder / "c.toml").string())).find("cannot be read"),
            std::string::npos);
  std::ofstream(folder / "flows.txt") << "priority=7,actions=output:1\n";
  const ConfigOutcome outcome = read_config((folder / "c.toml").string());
  ASSERT_TRUE(outcome.config.has_value()) << faults_of(outcome);
  EXPECT_EQ(outcome.config->flows.front().match.priority, 7);
}

TEST(ClassifyConfig, of_equal_matches_the_last_one_stays) {
  const ConfigOutcome outcome =
      parse_config(kToml, "tcp,actions=output:1\nudp,actions=output:1\ntcp,actions=output:2\n");
  const auto shared = list_flows(*outcome.config, 1);
  ASSERT_EQ(shared->flows.size(), 2U);
  for (const auto& [key, listed] : shared->flows) {
    const auto port = std::get<openflow::Output>(listed.flow.actions.front()).port;
    EXPECT_EQ(port, listed.flow.ip_proto() == 6 ? 2 : 1);
  }
}

TEST(ClassifyConfig, what_cannot_change_in_a_run_is_refused) {
  const auto config = [](const std::string& text) { return parse_config(text, "").config.value(); };
  const Config running = config(kToml);
  EXPECT_TRUE(refused_changes(running, config(kToml)).empty());
  const Config other = config(
      "tick_seconds = 2\n[classify]\nflows = \"flows.txt\"\nconnections = 7\nmegaflows = false\n"
      "exact_match_cache = \"off\"\n[[port]]\n");
  EXPECT_EQ(refused_changes(running, other).size(), 5U);
}

}  // namespace
}  // namespace roost::classifying

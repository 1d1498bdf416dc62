// Configurations of the observer: read, refused with their lines, and what of them may change.
#include "apps/assets/config/config.h"

#include <gtest/gtest.h>

#include <string>

namespace roost::assets {
namespace {

std::string faults_of(std::string_view toml) {
  std::string text;
  for (const config::Fault& fault : parse_config(toml).faults)
    text += std::to_string(fault.line) + ": " + fault.text + "\n";
  return text;
}

Config config_of(std::string_view toml) { return parse_config(toml).config.value_or(Config()); }

TEST(AssetsConfig, a_file_is_read_whole) {
  const Config config = config_of(
      "tick_seconds = 0.5\n[assets]\nhosts_max = 7\nservices_max = 3\nnetworks = "
      "[\"192.0.2.0/24\"]\nlog = \"a.jsonl\"\nworkers = 2\n[[port]]\nmtu = 9000\n[[port]]\n");
  const Observer::Config observer = config.observer();
  EXPECT_EQ(observer.table.hosts_max, 7U);
  EXPECT_EQ(observer.table.services_max, 3U);
  EXPECT_EQ(observer.answer_ticks, 60U);
  EXPECT_EQ(observer.networks.size(), 1U);
  EXPECT_TRUE(observer.has_log);
  EXPECT_EQ(config.mtus, (std::vector<std::optional<uint16_t>>{9'000, std::nullopt}));
  EXPECT_EQ(config.workers.count, 2U);
}

TEST(AssetsConfig, ports_are_all_that_a_file_must_have) {
  const Config config = config_of("[[port]]\n");
  EXPECT_EQ(config.hosts_max, 100'000U);
  EXPECT_EQ(config.services_max, 32U);
  EXPECT_FALSE(config.observer().has_log);
  EXPECT_NE(faults_of("[assets]\n").find("port"), std::string::npos);
}

TEST(AssetsConfig, each_fault_is_told_with_its_line) {
  const std::string faults = faults_of(
      "[assets]\nhosts_max = 0\nservices_max = 1025\nnetworks = [\"192.0.2\"]\nlog = 7\nkept = 1\n"
      "[[port]]\nmtu = 67\n");
  for (const char* line :
       {"2: [assets] hosts_max", "3: [assets] services_max", "4: [assets] networks",
        "5: [assets] log", "6: unknown key", "8: [[port]]"})
    EXPECT_NE(faults.find(line), std::string::npos) << line << " in\n" << faults;
}

TEST(AssetsConfig, there_are_at_most_64_ports_and_256_networks) {
  std::string ports;
  for (int i = 0; i < 65; ++i) ports += "[[port]]\n";
  EXPECT_NE(faults_of(ports).find("65: [[port]]: there are more than 64"), std::string::npos);
  std::string networks = "[assets]\nnetworks = [";
  for (int i = 0; i < 257; ++i) networks += "\"10.0.0.0/8\",";
  EXPECT_NE(faults_of(networks + "]\n[[port]]\n").find("more than 256"), std::string::npos);
}

TEST(AssetsConfig, only_networks_change_in_a_run) {
  const Config running = config_of("[assets]\nnetworks = [\"192.0.2.0/24\"]\n[[port]]\n");
  EXPECT_TRUE(refused_changes(running, config_of("[[port]]\n")).empty());
  for (const char* toml :
       {"tick_seconds = 2\n[[port]]\n", "[assets]\nhosts_max = 9\n[[port]]\n",
        "[assets]\nservices_max = 9\n[[port]]\n", "[assets]\nlog = \"x\"\n[[port]]\n",
        "[assets]\nhash_seed = 9\n[[port]]\n", "[[port]]\n[[port]]\n", "[[port]]\nmtu = 9000\n",
        "[[port]]\n[control]\nsocket = \"x\"\n"})
    EXPECT_EQ(refused_changes(running, config_of(toml)).size(), 1U) << toml;
}

}  // namespace
}  // namespace roost::assets

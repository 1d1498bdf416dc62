// The machine's file: what it says, and how a wrong one is refused.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/script.h"

namespace roost::sim {
namespace {

// The default file with one text in the place of another, which stands there once.
std::string changed(std::string_view from, std::string_view to) {
  std::string text(default_machine_text());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The only fault of a text, with its line.
std::string fault_of(const std::string& text) {
  const auto outcome = parse_machine(text);
  if (outcome.config) return "none";
  EXPECT_EQ(outcome.faults.size(), 1U);
  return std::to_string(outcome.faults.front().line) + ": " + outcome.faults.front().text;
}

uint32_t line_with(const std::string& text, std::string_view what) {
  const size_t at = text.find(what);
  return static_cast<uint32_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

TEST(MachineFile, says_the_paper_s_machine) {
  const Parameters p = default_parameters();
  EXPECT_EQ(p.tiles(), 16U);
  EXPECT_EQ(p.core_window, 192U);
  EXPECT_EQ(p.l1d_bytes, 32U << 10);
  EXPECT_EQ(p.l2_bytes, 1U << 20);
  EXPECT_EQ(p.llc_slice_bytes * p.tiles(), 32U << 20);
  EXPECT_EQ(p.accelerator_scoreboard, 10U);
  EXPECT_EQ(p.accelerator_metadata_lines * 64, 640U);
  EXPECT_EQ(p.llc, LlcPolicy::kVictim);
  EXPECT_EQ(p.dispatch, DispatchChoice::kTable);
  for (const ParameterRange& range : default_machine().ranges) {
    EXPECT_FALSE(range.unit.empty());
    EXPECT_GT(range.source.size(), 3U) << "everything has a source";
  }
}

TEST(MachineFile, has_a_level_for_every_number) {
  const Parameters low = default_machine().at(Level::kLow);
  const Parameters high = default_machine().at(Level::kHigh);
  EXPECT_EQ(low.mesh_hop_cycles, 1U);
  EXPECT_EQ(high.mesh_hop_cycles, 3U);
  for (const ParameterInfo& info : parameter_infos()) EXPECT_LE(low.*info.value, high.*info.value);
  EXPECT_TRUE(geometry_faults(low).empty() && geometry_faults(high).empty());
}

TEST(MachineFile, switches_are_read) {
  const auto outcome =
      parse_machine(changed(R"(llc = { value = "victim")", R"(llc = { value = "inclusive")"));
  ASSERT_TRUE(outcome.config.has_value());
  EXPECT_EQ(outcome.config->at(Level::kMiddle).llc, LlcPolicy::kInclusive);
}

TEST(MachineFile, refuses_what_cannot_be_with_its_line) {
  const std::string text(default_machine_text());
  const auto at = [&](std::string_view what) {
    return std::to_string(line_with(text, what)) + ": ";
  };
  EXPECT_EQ(fault_of(changed("hop_cycles = { unit = \"cycles\", low = 1",
                             "hop_cycles = { unit = \"cycles\", low = 7")),
            at("hop_cycles") +
                "[mesh] hop_cycles: low, middle and high are not in this order; exchange them");
  EXPECT_EQ(fault_of(changed("columns = { unit = \"tiles\", low = 4, middle = 4, high = 4",
                             "columns = { unit = \"tiles\", low = 3, middle = 3, high = 3")),
            at("rows =") +
                "[mesh] rows: 12 tiles; give columns and rows whose product is 1, 2, 4, 8 or 16");
  EXPECT_NE(fault_of(changed(R"(dispatch = { value = "table")", R"(dispatch = { value = "bucket")"))
                .find("set hash to"),
            std::string::npos);
  EXPECT_FALSE(parse_machine(changed("hop_cycles", "hop_cicles")).config.has_value());
  EXPECT_NE(fault_of(changed("value = \"tree-plru\"", "value = \"random\""))
                .find("give one of tree-plru, lru"),
            std::string::npos);
  EXPECT_NE(fault_of(changed("[mesh]", "[mesh")).find("not TOML"), std::string::npos);
}

}  // namespace
}  // namespace roost::sim

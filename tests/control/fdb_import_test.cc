// Stations by file: exported and imported whole, or not at all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "roost/control/fdb_file.h"
#include "tests/control/fdb_source.h"

namespace roost::control {
namespace {

class FdbImport : public FdbTest {
 protected:
  FdbImport() : folder_(testing::TempDir() + test_name()), path_(folder_ / "stations") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~FdbImport() override { std::filesystem::remove_all(folder_); }

  static std::string test_name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  Json import_of(const std::string& text) const {
    std::ofstream(path_) << text;
    return {{"action", "import"}, {"path", path_}};
  }
  Json export_to(const std::filesystem::path& path) const {
    return {{"action", "export"}, {"path", path}};
  }
  [[nodiscard]] std::string text_of_file() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::string at(size_t line) const {
    return path_.string() + ":" + std::to_string(line) + ": ";
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(FdbImport, what_is_exported_is_the_same_set_after_an_import_elsewhere) {
  for (uint64_t i = 0; i < 5'000; ++i) learn(10, i, i % 2);
  for (uint64_t i = 0; i < kFdbStaticMax - 1; ++i) add_static(20, i, 2);
  add_static(20, 99'999, bridge::FdbValue::kNoPort);
  EXPECT_EQ(must(export_to(path_))["exported"], entries_.size());
  const std::set<Row> exported = entries_;
  EXPECT_EQ(text_of_file().find(kFdbFileHead), 0U);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
  make({});
  const Json told = must({{"action", "import"}, {"path", path_}});
  EXPECT_EQ(told["imported"], exported.size());
  EXPECT_EQ(told["refused"], 0);
  EXPECT_EQ(listed({}), exported);
  EXPECT_EQ(fdb().write().counters().added, exported.size());
}

TEST_F(FdbImport, an_export_has_what_the_filters_admit) {
  learn(10, 1, 1);
  learn(20, 2, 1);
  add_static(20, 3, 2);
  Json parameters = export_to(path_);
  parameters.update({{"vlan", 20}, {"kind", "learned"}});
  EXPECT_EQ(must(parameters)["exported"], 1);
  EXPECT_EQ(text_of_file(), std::string(kFdbFileHead) + "\n20 " + mac_of(2) + " 1 learned\n");
}

TEST_F(FdbImport, a_file_is_lines_and_remarks_however_they_end) {
  EXPECT_EQ(must(import_of("# a remark\r\n\n  \t\n10 02:00:00:00:00:01 0 learned\r\n"
                           "  # another\n\t20  02:00:00:00:00:02\t2 static\n"
                           "20 02:00:00:00:00:03 drop static"))["imported"],
            3);
  EXPECT_EQ(listed({}), (std::set<Row>{{10, mac_of(1), "0", "learned"},
                                       {20, mac_of(2), "2", "static"},
                                       {20, mac_of(3), "drop", "static"}}));
}

TEST_F(FdbImport, with_one_bad_line_nothing_is_imported) {
  learn(10, 1, 0);
  const std::string good = "10 02:00:00:00:00:02 0 learned\n20 02:00:00:00:00:03 2 static\n";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"10 02:00:00:00:00:04 0", "is no entry"},
      {"10 02:00:00:00:00:04 0 learned now", "is no entry"},
      {"0 02:00:00:00:00:04 0 learned", "is no VLAN"},
      {"4095 02:00:00:00:00:04 0 learned", "is no VLAN"},
      {"65546 02:00:00:00:00:04 0 learned", "is no VLAN"},
      {"10x 02:00:00:00:00:04 0 learned", "is no VLAN"},
      {"10 01:00:5e:00:00:01 0 learned", "one station"},
      {"10 00:00:00:00:00:00 0 static", "one station"},
      {"10 02:00:00:00:00 0 learned", "one station"},
      {"10 02:00:00:00:00:04 3 learned", "is no port; give 0 to 2"},
      {"10 02:00:00:00:00:04 1023 static", "is no port; give 0 to 2, or drop"},
      {"10 02:00:00:00:00:04 -1 learned", "is no port"},
      {"10 02:00:00:00:00:04 drop learned", "only static entries drop"},
      {"10 02:00:00:00:00:04 0 Static", "is no kind"},
      {"10 02:00:00:00:00:04 2 learned", "port 2 does not have VLAN 10"},
      {"30 02:00:00:00:00:04 drop static", "no port has VLAN 30"}};
  for (const auto& [line, part] : bad) {
    const std::string told = refusal(import_of(fmt::format("{}{}\n{}", good, line, good)));
    EXPECT_NE(told.find(at(3)), std::string::npos) << told;
    EXPECT_NE(told.find(part), std::string::npos) << line << ": " << told;
    EXPECT_NE(told.find("nothing was imported"), std::string::npos) << told;
    ASSERT_EQ(listed({}), entries_) << line;
  }
}

TEST_F(FdbImport, the_first_ten_bad_lines_are_named) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "10 02:00:00:00:00:04 9 learned\n# fine\n";
  const std::string told = refusal(import_of(text));
  for (size_t i = 0; i < 10; ++i) EXPECT_NE(told.find(at(2 * i + 1)), std::string::npos) << told;
  EXPECT_EQ(told.find(at(21)), std::string::npos);
  EXPECT_NE(told.find("15 more lines are wrong"), std::string::npos) << told;
}

TEST_F(FdbImport, a_million_learned_stations_are_imported) {
  constexpr uint64_t kStations = step_count(1'000'000);
  make({}, 2 * kStations);
  {
    std::ofstream file(path_);
    for (uint64_t i = 0; i < kStations; ++i)
      file << "10 " << mac_of(i) << ' ' << i % 2 << " learned\n";
  }
  now_ = Tick{1'000'000};
  EXPECT_EQ(must({{"action", "import"}, {"path", path_}}),
            (Json{{"imported", kStations}, {"refused", 0}}));
  const bridge::Fdb::Writer writer = fdb().write();
  EXPECT_EQ(writer.size(), kStations);
  EXPECT_EQ(writer.learned_at(0), kStations / 2);
  EXPECT_EQ(writer.learned_at(1), kStations / 2);
  for (uint64_t i = 0; i < kStations; i += 997) {
    const auto value = writer.find(key_of(10, i));
    ASSERT_TRUE(value.has_value()) << i;
    EXPECT_EQ(value->port(), i % 2);
    EXPECT_FALSE(bridge::Ageing::is_unknown(*value, fdb().ageing().sixteenth(now_)));
  }
}

TEST_F(FdbImport, learned_stations_are_imported_as_far_as_their_port_has_room) {
  make({2, {}, {}});
  std::string text = "10 02:00:00:00:00:09 1 learned\n";
  for (int i = 0; i < 5; ++i) text += "10 02:00:00:00:00:0" + std::to_string(i) + " 0 learned\n";
  EXPECT_EQ(must(import_of(text)), (Json{{"imported", 3}, {"refused", 3}}));
  EXPECT_EQ(must(import_of(text)), (Json{{"imported", 3}, {"refused", 3}})) << "the same again";
  EXPECT_EQ(fdb().write().size(), 3U);
}

TEST_F(FdbImport, static_stations_are_imported_all_or_none) {
  for (uint64_t i = 0; i < kFdbStaticMax - 2; ++i) add_static(10, i, 0);
  learn(10, 100, 1);
  const auto line = [](uint64_t number) { return "10 " + mac_of(number) + " 1 static\n"; };
  const std::string two = line(100) + line(101);
  const std::string told = refusal(import_of("10 02:00:00:00:01:00 1 learned\n" + two + line(102)));
  EXPECT_NE(told.find("nothing was imported"), std::string::npos) << told;
  EXPECT_NE(told.find("ask for more"), std::string::npos) << told;
  EXPECT_EQ(listed({}), entries_);
  // Those that are there already need no room, nor does a line that is there twice.
  EXPECT_EQ(must(import_of(line(0) + two + line(5) + two))["imported"], 6);
  EXPECT_EQ(fdb().write().static_count(), kFdbStaticMax);
  EXPECT_EQ(listed({{"mac", mac_of(0)}}), (std::set<Row>{{10, mac_of(0), "1", "static"}}));
  EXPECT_EQ(listed({{"mac", mac_of(100)}}), (std::set<Row>{{10, mac_of(100), "1", "static"}}));
}

TEST_F(FdbImport, a_file_that_cannot_be_written_or_read_is_named_and_nothing_is_left_of_it) {
  learn(10, 1, 0);
  const auto nowhere = folder_ / "nowhere" / "stations";
  EXPECT_NE(refusal(export_to(nowhere)).find(nowhere.string() + " cannot be written"),
            std::string::npos);
  EXPECT_NE(refusal({{"action", "import"}, {"path", nowhere}}).find("cannot be read"),
            std::string::npos);
  std::filesystem::create_directory(path_);
  EXPECT_NE(refusal(export_to(path_)).find("cannot be written"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
  EXPECT_NE(refusal({{"action", "import"}, {"path", path_}}).find("cannot be read"),
            std::string::npos);
  EXPECT_EQ(listed({}), entries_);
}

TEST_F(FdbImport, an_export_that_fails_leaves_the_file_of_before_whole) {
  learn(10, 1, 0);
  must(export_to(path_));
  const std::string before = text_of_file();
  std::filesystem::create_directory(path_.string() + ".new");
  EXPECT_NE(refusal(export_to(path_)).find("cannot be written"), std::string::npos);
  EXPECT_EQ(text_of_file(), before);
}

}  // namespace
}  // namespace roost::control

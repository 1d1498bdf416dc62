// Rendered texts, compared with those that were read by people.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "targets/switch/switch_export.h"
#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A difference that is meant is copied from where the message says.
void expect_golden(const std::vector<ExportedFile>& files) {
  for (const ExportedFile& file : files) {
    const auto golden = std::filesystem::path(ROOST_TARGET_GOLDEN) / file.name;
    if (read_file(golden) == file.text) continue;
    const auto now = std::filesystem::current_path() / ("new_" + file.name);
    std::ofstream(now) << file.text;
    ADD_FAILURE() << golden << " differs from what is rendered: " << now;
  }
}

// Eight keys under two prefixes, a bucket of six and one of two.
TEST(Golden, texts_are_as_they_were_read) {
  std::vector<uint64_t> keys = compact::dense_keys(5, 0x0200'0000'0010);
  keys.insert(keys.end(), {0x02ff'0000'0001, 0x02ff'0000'0002, 0x02ff'8000'0000});
  const compact::ParrotBuilder table = table_of({.model = kSixKeys}, keys);
  expect_golden(export_swx(table.image(), {.stash_reads = 1}).value());
  expect_golden(export_p4(table.image(), {.stash_reads = 1}).value());
  expect_golden(export_report(table.image(), {}).value());
}

}  // namespace
}  // namespace roost::targets

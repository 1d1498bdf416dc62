// What one mapping of a file writes, another one finds, and the reasons for refusals.
#include "roost/memory/shared_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace roost {
namespace {

class SharedFileTest : public ::testing::Test {
 protected:
  SharedFileTest() { std::filesystem::create_directories(directory_); }
  ~SharedFileTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_ = std::filesystem::path(::testing::TempDir()) / "shared_file";
  std::string path_ = directory_ / "memory";
};

TEST_F(SharedFileTest, what_one_mapping_writes_another_one_finds) {
  auto made = SharedFile::create(path_, 10'000);
  ASSERT_TRUE(made.ok());
  EXPECT_GE(made.value().memory().size(), 10'000U);
  EXPECT_EQ(made.value().memory().size() % 4'096, 0U);
  EXPECT_TRUE(
      std::ranges::all_of(made.value().memory(), [](std::byte b) { return b == std::byte{0}; }));
  made.value().memory()[9'999] = std::byte{7};
  auto found = SharedFile::open(path_);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().memory().size(), made.value().memory().size());
  EXPECT_EQ(found.value().memory()[9'999], std::byte{7});
}

TEST_F(SharedFileTest, a_new_file_leaves_the_one_before_to_whoever_has_it_mapped) {
  auto before = SharedFile::create(path_, 4'096);
  ASSERT_TRUE(before.ok());
  before.value().memory()[0] = std::byte{1};
  auto after = SharedFile::create(path_, 4'096);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after.value().memory()[0], std::byte{0});
  after.value().memory()[0] = std::byte{2};
  EXPECT_EQ(before.value().memory()[0], std::byte{1});
}

TEST_F(SharedFileTest, what_cannot_be_mapped_is_an_error_with_the_path) {
  EXPECT_NE(SharedFile::open(path_).error().message.find(path_), std::string::npos);
  EXPECT_FALSE(SharedFile::open(directory_).ok());
  EXPECT_FALSE(SharedFile::create(directory_ / "no" / "such", 1).ok());
  EXPECT_NE(SharedFile::create(path_, uint64_t{1} << 45).error().message.find("no room"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace roost

// Files that are read, and replaced, as a whole.
#include "roost/memory/whole_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace roost {
namespace {

class WholeFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "roost-file-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  // What writing is answered with.
  static std::string written(const std::string& path, const std::string& text) {
    const auto error = write_whole(path, std::as_bytes(std::span(text)));
    return error ? error->message : "written";
  }

  std::filesystem::path folder_;
};

TEST_F(WholeFile, what_was_written_is_read) {
  std::string text((size_t{3} << 20) + 5, 'a');
  text[7] = '\0';
  EXPECT_EQ(written(path("file"), text), "written");
  EXPECT_EQ(read_whole(path("file")).value(), text);
  EXPECT_EQ(written(path("file"), "short"), "written");
  EXPECT_EQ(read_whole(path("file")).value(), "short");
}

TEST_F(WholeFile, what_cannot_be_written_leaves_what_was_there) {
  EXPECT_EQ(written(path("none/file"), "new"),
            path("none/file") + " cannot be written: No such file or directory");
  std::filesystem::create_directory(folder_ / "folder");
  EXPECT_EQ(written(path("folder"), "new"), path("folder") + " cannot be written: Is a directory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_EQ(written(path("file"), "old"), "written");
  const auto old = std::filesystem::path(path("file.new"));
  std::filesystem::create_directory(old);
  EXPECT_NE(written(path("file"), "new"), "written");
  EXPECT_EQ(read_whole(path("file")).value(), "old");
}

TEST_F(WholeFile, what_has_no_room_leaves_what_was_there) {
  ASSERT_EQ(written(path("file"), "old"), "written");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // else the process would end
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string refused = written(path("file"), std::string(101, 'a'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(refused, path("file") + " cannot be written: File too large");
  EXPECT_EQ(read_whole(path("file")).value(), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WholeFile, what_cannot_be_read_is_said) {
  EXPECT_EQ(read_whole(path("none")).error().message,
            path("none") + " cannot be read: No such file or directory");
  EXPECT_EQ(read_whole(folder_.string()).error().message,
            folder_.string() + " cannot be read: Is a directory");
}

}  // namespace
}  // namespace roost

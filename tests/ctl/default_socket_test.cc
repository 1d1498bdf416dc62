// Which control socket `roost ctl` asks when it is given none.
#include "apps/ctl/default_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "roost/base/file_descriptor.h"

namespace roost::ctl {

namespace {

// An empty folder, which goes with this object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "roost-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }

  void bind(const std::string& name) const {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string file = path / name;
    ASSERT_LT(file.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, file.data(), file.size());
    const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }

  std::filesystem::path path;
};

bool says(const Result<std::string>& found, const std::string& words) {
  return !found && found.error().message.find(words) != std::string::npos;
}

TEST(DefaultSocket, is_the_only_one_whichever_function_it_belongs_to) {
  const Folder folder;
  folder.bind("forward.sock");
  const Result<std::string> found = find_only_socket(folder.path);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found.value(), (folder.path / "forward.sock").string());
}

TEST(DefaultSocket, is_none_that_has_another_name_or_is_a_file) {
  const Folder folder;
  folder.bind("dpdk_telemetry.v2");
  folder.bind("lb.sock.new");
  std::ofstream(folder.path / "nat.sock") << "a file\n";
  EXPECT_TRUE(says(find_only_socket(folder.path), "no control socket is there"));
  folder.bind("lb.sock");
  EXPECT_TRUE(find_only_socket(folder.path).ok());
}

TEST(DefaultSocket, is_not_guessed_among_several) {
  const Folder folder;
  folder.bind("lb.sock");
  folder.bind("forward.sock");
  EXPECT_TRUE(says(find_only_socket(folder.path), "--socket with one of " +
                                                      (folder.path / "forward.sock").string() +
                                                      ", " + (folder.path / "lb.sock").string()));
}

TEST(DefaultSocket, needs_no_folder_to_say_that_there_is_none) {
  const Folder folder;
  EXPECT_TRUE(says(find_only_socket(folder.path / "absent"), "no control socket is there"));
  std::ofstream(folder.path / "file") << "a file\n";
  EXPECT_TRUE(says(find_only_socket(folder.path / "file"), "Not a directory"));
}

}  // namespace

}  // namespace roost::ctl

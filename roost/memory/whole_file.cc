#include "roost/memory/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "roost/base/file_descriptor.h"

namespace roost {
namespace {

// Why the last system call failed, as the system says it.
Error failed(const std::string& path, const char* what) {
  return Error{path + " cannot be " + what + ": " + std::generic_category().message(errno)};
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> read_whole(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return failed(path, "read");
  constexpr size_t kChunk = size_t{1} << 20;
  std::string text;
  for (size_t size = 0;;) {
    const size_t left = about.st_size > static_cast<off_t>(size)
                            ? static_cast<size_t>(about.st_size) - size
                            : size_t{0};
    text.resize(size + left + kChunk);
    const ssize_t got = ::read(file.number(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, "read");
    size += static_cast<size_t>(got);
    text.resize(size);
    if (got == 0) return text;
  }
}

std::optional<Error> write_whole(const std::string& path, std::span<const std::byte> bytes) {
  const std::string unfinished = path + ".new";
  {
    const FileDescriptor file(
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.number() < 0) return failed(path, "written");
    if (!write_all(file.number(), bytes) || ::fsync(file.number()) != 0) {
      Error error = failed(path, "written");
      ::unlink(unfinished.c_str());
      return error;
    }
  }
  if (::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  Error error = failed(path, "written");
  ::unlink(unfinished.c_str());
  return error;
}

}  // namespace roost

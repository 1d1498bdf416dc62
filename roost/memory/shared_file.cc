#include "roost/memory/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "roost/base/file_descriptor.h"

namespace roost {

namespace {

constexpr mode_t kOwnersOnly = 0600;

Error file_error(const std::string& path, const char* what) {
  return Error{path + ": " + what + ": " + std::generic_category().message(errno)};
}

}  // namespace

Result<SharedFile> SharedFile::create(const std::string& path, uint64_t bytes) {
  unlink(path.c_str());
  const FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnersOnly));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    return file_error(path, "cannot be made");
  }
  const uint64_t page = static_cast<uint64_t>(std::max<blksize_t>(4'096, status.st_blksize));
  const uint64_t whole = (bytes + page - 1) / page * page;
  // Not all file systems of huge pages take it with every size; there, mapping reserves them.
  if (ftruncate(file.number(), static_cast<off_t>(whole)) != 0 ||
      (fallocate(file.number(), 0, 0, static_cast<off_t>(whole)) != 0 && errno != EOPNOTSUPP)) {
    const Error error =
        file_error(path, ("no room for " + std::to_string(whole) + " bytes").c_str());
    unlink(path.c_str());
    return error;
  }
  return map(path, file.number(), whole, 0);
}

Result<SharedFile> SharedFile::open(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    return file_error(path, "cannot be opened");
  }
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    return Error{path + ": it is no file of memory; begin anew without --takeover"};
  }
  return map(path, file.number(), static_cast<uint64_t>(status.st_size), MAP_POPULATE);
}

Result<SharedFile> SharedFile::map(const std::string& path, int descriptor, uint64_t bytes,
                                   int flags) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, descriptor, 0);
  if (address == MAP_FAILED) return file_error(path, "cannot be mapped");
  // Where the system's setting is to advise; else it does nothing.
  static_cast<void>(madvise(address, bytes, MADV_HUGEPAGE));
  return SharedFile({static_cast<std::byte*>(address), bytes});
}

SharedFile::SharedFile(SharedFile&& from) noexcept : memory_(std::exchange(from.memory_, {})) {}

SharedFile::~SharedFile() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

}  // namespace roost

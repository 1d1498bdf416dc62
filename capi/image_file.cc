#include "capi/image_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "roost/base/file_descriptor.h"

namespace roost::capi {
namespace {

Failure unreadable(const std::string& path, const std::string& why) {
  return {ROOST_INVALID, path + ": " + why};
}

}  // namespace

Failed read_image(const std::string& path, const ArenaOptions& options, ImageBytes& image) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0)
    return unreadable(path, "cannot be opened: " + std::generic_category().message(errno));
  if (!S_ISREG(status.st_mode)) return unreadable(path, "it is no file, which an image is in");
  const auto bytes = static_cast<uint64_t>(status.st_size);
  auto memory = Arena::map(std::max<uint64_t>(bytes, 1), options);
  if (!memory) return Failure{ROOST_NO_MEMORY, path + ": " + memory.error().message};
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(file.number(), memory.value().data() + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return unreadable(path, "cannot be read: " + std::generic_category().message(errno));
    if (got == 0) break;  // it became shorter, as the image's own size will tell
    done += static_cast<uint64_t>(got);
  }
  image.bytes = {memory.value().data(), done};
  image.own.emplace(std::move(memory).value());
  return {};
}

}  // namespace roost::capi

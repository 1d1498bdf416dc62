// A file of memory that processes share: what one writes, the next one finds, also when the first
// was killed.
//
// Its pages are taken when it is made, so that a full file system is an error then, and not a
// signal at some packet. On a file system of huge pages it is a whole number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "roost/base/result.h"

namespace roost {

// Owns the mapping, not the file; movable. One thread makes and destroys it.
class SharedFile {
 public:
  // A new file of at least so many zeroed bytes, in the place of one that is there: whoever has
  // that mapped keeps it. Errors: the file system has no such file, or not so much room.
  [[nodiscard]] static Result<SharedFile> create(const std::string& path, uint64_t bytes);
  // The file that is there, whole and with every page mapped, so that nobody waits for one later.
  [[nodiscard]] static Result<SharedFile> open(const std::string& path);

  SharedFile(SharedFile&& from) noexcept;
  SharedFile& operator=(SharedFile&&) = delete;
  ~SharedFile();

  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }

 private:
  explicit SharedFile(std::span<std::byte> memory) : memory_(memory) {}
  static Result<SharedFile> map(const std::string& path, int descriptor, uint64_t bytes, int flags);

  std::span<std::byte> memory_;
};

}  // namespace roost

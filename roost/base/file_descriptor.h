// A file descriptor with one owner, which closes it: of a socket, a file, a timer.
#pragma once

#include <unistd.h>

#include <utility>

namespace roost {

class FileDescriptor {
 public:
  // Takes over what a system call has returned; a negative number is none.
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& from) noexcept : number_(std::exchange(from.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace roost

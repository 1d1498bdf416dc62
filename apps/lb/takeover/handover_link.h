// What two processes say to each other when one takes over from the other: JSON, a message a packet
// of a Unix socket, and with some of them descriptors.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/file_descriptor.h"
#include "roost/base/result.h"
#include "roost/control/json.h"

namespace roost::lb {

// One end. One thread uses it.
class HandoverLink {
 public:
  // `cancel`: a descriptor that becomes readable when nothing shall be waited for; -1: none.
  explicit HandoverLink(FileDescriptor socket, int cancel = -1)
      : socket_(std::move(socket)), cancel_(cancel) {}

  // To the process that listens there; nothing if none does.
  [[nodiscard]] static std::optional<HandoverLink> connect(const std::string& path);

  static constexpr size_t kDescriptorsMax = 2;

  // False: the other end has gone. The descriptors, at most kDescriptorsMax, go along.
  [[nodiscard]] bool send(const control::Json& message, std::span<const int> descriptors = {});
  // The next message. An error: the other end has gone, says nothing in time, or no JSON object.
  // Descriptors that come along are taken from take_descriptors().
  [[nodiscard]] Result<control::Json> receive(std::chrono::milliseconds timeout);
  [[nodiscard]] std::vector<FileDescriptor> take_descriptors() {
    return std::exchange(descriptors_, {});
  }

 private:
  FileDescriptor socket_;
  int cancel_;
  std::vector<FileDescriptor> descriptors_;
};

// A socket that listens at a path, which it takes over from whoever listened there before.
[[nodiscard]] Result<FileDescriptor> listen_for_handover(const std::string& path);

// Waits until `socket` can be read; false: the time is over, or `cancel` can be.
[[nodiscard]] bool wait_to_read(int socket, int cancel, std::chrono::milliseconds timeout);

}  // namespace roost::lb

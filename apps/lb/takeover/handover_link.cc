#include "apps/lb/takeover/handover_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include "roost/base/assert.h"

namespace roost::lb {

namespace {

using control::Json;

constexpr size_t kMessageBytesMax = 64 << 10;

FileDescriptor make_socket() {
  return FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy_n(path.begin(), std::min(path.size(), sizeof(address.sun_path) - 1), address.sun_path);
  return address;
}

// Room for descriptors beside a message.
union Beside {
  cmsghdr header;
  std::array<char, CMSG_SPACE(HandoverLink::kDescriptorsMax * sizeof(int))> bytes;
};

}  // namespace

std::optional<HandoverLink> HandoverLink::connect(const std::string& path) {
  FileDescriptor socket = make_socket();
  const sockaddr_un address = address_of(path);
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return {};
  return HandoverLink(std::move(socket));
}

bool HandoverLink::send(const Json& message, std::span<const int> descriptors) {
  ROOST_ASSERT(descriptors.size() <= kDescriptorsMax);
  std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  iovec part = {text.data(), text.size()};
  msghdr packet = {};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  Beside beside = {};
  if (!descriptors.empty()) {
    packet.msg_control = beside.bytes.data();
    packet.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket_.number(), &packet, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

Result<Json> HandoverLink::receive(std::chrono::milliseconds timeout) {
  if (!wait_to_read(socket_.number(), cancel_, timeout)) {
    return Error{"the other process says nothing"};
  }
  std::vector<char> text(kMessageBytesMax);
  iovec part = {text.data(), text.size()};
  Beside beside = {};
  msghdr packet = {};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  packet.msg_control = beside.bytes.data();
  packet.msg_controllen = beside.bytes.size();
  const ssize_t bytes = recvmsg(socket_.number(), &packet, MSG_CMSG_CLOEXEC);
  if (bytes <= 0) return Error{"the other process has gone"};
  const cmsghdr* header = CMSG_FIRSTHDR(&packet);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    std::array<int, kDescriptorsMax> numbers = {};
    const size_t count = std::min(numbers.size(), (header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(numbers.data(), CMSG_DATA(header), count * sizeof(int));
    descriptors_.clear();
    for (size_t i = 0; i < count; ++i) descriptors_.emplace_back(numbers[i]);
  }
  Json message = Json::parse(text.begin(), text.begin() + bytes, nullptr, false);
  if (!message.is_object()) return Error{"the other process says what is no message"};
  return message;
}

Result<FileDescriptor> listen_for_handover(const std::string& path) {
  const std::string made = path + ".new";
  unlink(made.c_str());
  FileDescriptor socket = make_socket();
  const sockaddr_un address = address_of(made);
  const bool listens =
      bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      listen(socket.number(), 1) == 0 && rename(made.c_str(), path.c_str()) == 0;
  if (!listens) return Error{path + ": " + std::generic_category().message(errno)};
  return socket;
}

bool wait_to_read(int socket, int cancel, std::chrono::milliseconds timeout) {
  std::array<pollfd, 2> awaited = {pollfd{socket, POLLIN, 0}, pollfd{cancel, POLLIN, 0}};
  const int ready = poll(awaited.data(), awaited.size(), static_cast<int>(timeout.count()));
  return ready > 0 && awaited[1].revents == 0 && awaited[0].revents != 0;
}

}  // namespace roost::lb

#include "apps/ctl/control_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "roost/base/file_descriptor.h"

namespace roost::ctl {

namespace {

constexpr time_t kAnswerSecondsMax = 20;
constexpr size_t kAnswerBytesMax = 64 << 20;

Error failed(const std::string& path) {
  const int number = errno;
  const std::string why = std::generic_category().message(number);
  const bool is_absent = number == ENOENT || number == ECONNREFUSED;
  return Error{
      path + ": " + why +
      (is_absent ? "; is a function running with this [control] socket? Give --socket" : "")};
}

bool send_all(int socket, const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

Result<std::string> read_line(int socket, const std::string& path) {
  std::string line;
  char room[65'536];
  while (line.size() < kAnswerBytesMax) {
    const ssize_t count = recv(socket, room, sizeof room, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path);
    if (count == 0) return Error{path + ": the function ended the connection without an answer"};
    line.append(room, static_cast<size_t>(count));
    if (line.back() == '\n') return line;
  }
  return Error{path + ": the answer has no end"};
}

}  // namespace

Result<Json> ask(const std::string& socket_path, const Json& request) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) {
    return Error{socket_path + ": too long for a socket's path"};
  }
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval wait_max{.tv_sec = kAnswerSecondsMax, .tv_usec = 0};
  if (socket.number() < 0 ||
      setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &wait_max, sizeof wait_max) != 0 ||
      setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &wait_max, sizeof wait_max) != 0 ||
      connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      !send_all(socket.number(), request.dump() + "\n")) {
    return failed(socket_path);
  }
  const Result<std::string> line = read_line(socket.number(), socket_path);
  if (!line) return line.error();
  Json answer = Json::parse(line.value(), nullptr, false);
  if (!answer.is_object() || (!answer.contains("result") && !answer.contains("error"))) {
    return Error{socket_path + ": what answers there is no function of this program"};
  }
  return answer;
}

}  // namespace roost::ctl

#include "apps/ctl/default_socket.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace roost::ctl {

namespace {

// Sorted. While a function starts, a `.sock.new` may stand beside it (control_socket.cc).
std::vector<std::string> sockets_in(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::string> sockets;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::error_code gone;  // between the listing and here
    if (entry->path().extension() == ".sock" && entry->is_socket(gone)) {
      sockets.push_back(entry->path().string());
    }
    entry.increment(error);
  }
  std::ranges::sort(sockets);
  return sockets;
}

}  // namespace

Result<std::string> find_only_socket(const std::filesystem::path& folder) {
  std::error_code error;
  const std::vector<std::string> sockets = sockets_in(folder, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    return Error{folder.string() + ": " + error.message() + "; give --socket"};
  }
  if (sockets.empty()) {
    return Error{folder.string() +
                 ": no control socket is there; give --socket with the [control] socket of a "
                 "running function"};
  }
  if (sockets.size() == 1) return sockets.front();
  std::string names;
  for (const std::string& socket : sockets) names += (names.empty() ? "" : ", ") + socket;
  return Error{"several functions have a control socket; give --socket with one of " + names};
}

}  // namespace roost::ctl

// The control socket that is asked when the command line names none.
#pragma once

#include <filesystem>
#include <string>

#include "roost/base/result.h"

namespace roost::ctl {

// Where the manual pages and the systemd service have a function's socket, as NAME.sock.
inline constexpr const char* kSocketFolder = "/run/roost";

// The only `*.sock` of the folder, whichever function it belongs to: a machine most often runs one.
// Errors: there is none, or there are several, and a guess might change the wrong function.
[[nodiscard]] Result<std::string> find_only_socket(const std::filesystem::path& folder);

}  // namespace roost::ctl

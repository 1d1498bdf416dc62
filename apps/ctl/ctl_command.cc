#include "apps/ctl/ctl_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <sstream>
#include <string>

#include "apps/ctl/control_client.h"
#include "apps/ctl/default_socket.h"
#include "apps/ctl/result_tables.h"
#include "roost/config/message_text.h"

namespace roost::ctl {

int run_ctl(const CtlOptions& options) {
  const Result<std::string> socket = options.socket.empty() ? find_only_socket(kSocketFolder)
                                                            : Result<std::string>(options.socket);
  const Result<Json> answer = socket ? ask(socket.value(), options.request) : socket.error();
  if (!answer) {
    fmt::print(stderr, "roost: {}\n", answer.error().message);
    return kExitNoAnswer;
  }
  if (answer.value().contains("error")) {
    const Json& error = answer.value()["error"];
    std::istringstream lines(error.is_string() ? error.get<std::string>() : error.dump());
    for (std::string line; std::getline(lines, line);) {
      fmt::print(stderr, "roost: {}\n", config::printable(line));
    }
    return kExitRefused;
  }
  const Json& result = answer.value()["result"];
  try {
    fmt::print("{}", options.json ? result.dump(2) + "\n"
                                  : format_result(answer.value().at("view"), result));
  } catch (const Json::exception& error) {  // an answer that is not what this program knows
    fmt::print(stderr, "roost: the answer is not understood ({}); try --json\n", error.what());
    return kExitNoAnswer;
  }
  return std::fflush(stdout) == 0 ? 0 : kExitNoAnswer;
}

}  // namespace roost::ctl

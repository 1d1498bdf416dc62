// Sends a request to a control socket and waits for the answer.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "roost/base/result.h"

namespace roost::ctl {

using Json = nlohmann::ordered_json;

// The whole answer: {"result": ...} or {"error": ...}. Errors: no process listens there, the answer
// does not come within some seconds, or it is none.
[[nodiscard]] Result<Json> ask(const std::string& socket_path, const Json& request);

}  // namespace roost::ctl

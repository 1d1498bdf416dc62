// JSON as commands, their answers and reports use it: objects keep their order.
#pragma once

#include <nlohmann/json.hpp>

namespace roost::control {

using Json = nlohmann::ordered_json;

}  // namespace roost::control

// What a balancer answered, as people read it: tables.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace roost::ctl {

// `result` is what the command of this name gave. Lines, each with its newline.
[[nodiscard]] std::string format_result(std::string_view command,
                                        const nlohmann::ordered_json& result);

}  // namespace roost::ctl

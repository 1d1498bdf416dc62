// What a function answered, as people read it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace roost::ctl {

// `view` says which parts of the result are shown and how (roost/control/view.h). Lines, each with
// its newline. Throws Json::exception for a view that is none.
[[nodiscard]] std::string format_result(const nlohmann::ordered_json& view,
                                        const nlohmann::ordered_json& result);

}  // namespace roost::ctl

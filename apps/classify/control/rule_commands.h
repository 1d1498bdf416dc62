// The commands of a running classifier about its flows, as `roost ctl` has them.
#pragma once

#include <array>

#include "roost/control/commands.h"
#include "roost/control/json.h"

namespace roost::classifying {

[[nodiscard]] control::Json rules_view(const control::Json& result);
[[nodiscard]] control::Json masks_view(const control::Json& result);

inline constexpr std::array kRulesParameters = {
    control::Parameter{
        .name = "action",
        .is_positional = true,
        .choices = "list count add delete replace",
        .help = "list (the default) or count flows with what they have counted; add one, delete "
                "some; replace all by those of a file, at once"},
    control::Parameter{.name = "text",
                       .is_positional = true,
                       .help = "add: a flow, 'priority=100,tcp,tp_dst=80,actions=output:2'; list, "
                               "count and delete: a match, for flows that match no more than it "
                               "does; replace: the file, as the classifier sees it"},
    control::Parameter{
        .name = "table", .kind = control::ParameterKind::kNumber, .help = "only of this table"},
    control::Parameter{.name = "strict",
                       .kind = control::ParameterKind::kFlag,
                       .help = "only the flow of exactly this match and priority"},
    control::Parameter{
        .name = "limit", .kind = control::ParameterKind::kNumber, .help = "rows of a page"},
    control::Parameter{.name = "cursor", .help = "where the page before ended"}};

inline constexpr control::Command kRulesCommand = {.name = "rules",
                                                   .help = "the flows, with what each has counted",
                                                   .parameters = kRulesParameters,
                                                   .view = rules_view};
inline constexpr control::Command kMasksCommand = {
    .name = "masks",
    .help = "the masks of each table in the order of the search, and what is cached of it",
    .view = masks_view,
    .is_in_telemetry = true};

}  // namespace roost::classifying

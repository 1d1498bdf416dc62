#include "apps/classify/control/rule_commands.h"

#include "roost/control/view.h"

namespace roost::classifying {

using control::Json;
using control::View;

Json rules_view(const Json& result) {
  if (!result.contains("rows")) return control::list_view(result);
  View view;
  view.table("/rows", {"table", "match", "actions", "packets", "bytes"});
  if (result.contains("cursor")) view.text("more: --cursor " + result["cursor"].get<std::string>());
  return view.take();
}

Json masks_view(const Json&) {
  View view;
  view.table("/masks", {"table", "place", "mask", "rules"});
  view.text("cached by each worker");
  view.table("/tables",
             {"worker", "table", "masks", "megaflows", "megaflow_masks", "active_flows", "cache"});
  return view.take();
}

}  // namespace roost::classifying

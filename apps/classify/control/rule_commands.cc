#include "apps/classify/control/rule_commands.h"

#include <fmt/format.h>

#include "roost/control/view.h"

namespace roost::classifying {

using classify::Field;
using classify::FieldNumber;
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

bool looks_at(const classify::PacketFields& mask, Field field) {
  const auto bits_of = [&](Field one) { return get(mask, one); };
  const auto is_icmp = [&](Field port, Field part) {
    return bits_of(port) == classify::all_ones(part);
  };
  switch (field) {
    case Field::kTpSrc:
      return bits_of(field).low != 0 && !is_icmp(Field::kTpSrc, Field::kIcmpType);
    case Field::kTpDst:
      return bits_of(field).low != 0 && !is_icmp(Field::kTpDst, Field::kIcmpCode);
    case Field::kIcmpType:
      return is_icmp(Field::kTpSrc, field);
    case Field::kIcmpCode:
      return is_icmp(Field::kTpDst, field);
    default:
      return bits_of(field) != FieldNumber{};
  }
}

std::string format_mask(const classify::PacketFields& mask) {
  std::string text;
  for (const classify::FieldPlace& place : classify::kFields) {
    if (!looks_at(mask, place.field)) continue;
    const FieldNumber bits = get(mask, place.field);
    if (!text.empty()) text += ',';
    text += place.name;
    if (bits == classify::all_ones(place.field)) continue;
    text += bits.high == 0 ? fmt::format("/{:#x}", bits.low)
                           : fmt::format("/{:#x}{:016x}", bits.high, bits.low);
  }
  return text.empty() ? "none" : text;
}

}  // namespace roost::classifying

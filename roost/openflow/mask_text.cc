#include "roost/openflow/mask_text.h"

#include <fmt/format.h>

namespace roost::openflow {

using classify::Field;
using classify::FieldNumber;

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

}  // namespace roost::openflow

// A flow as OpenFlow and `ovs-ofctl` have it: a table, a match with priority, and actions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "roost/classify/packet_fields.h"
#include "roost/classify/rule.h"

namespace roost::openflow {

inline constexpr unsigned kTablesMax = 8;
inline constexpr uint16_t kDefaultPriority = 32'768;
inline constexpr uint16_t kPortMax = 0xfeff;  // above it OpenFlow's own ports begin

struct Output {
  uint16_t port = 0;
  auto operator<=>(const Output&) const = default;
};

struct OutputToInPort {
  auto operator<=>(const OutputToInPort&) const = default;
};

// Writes the bits of `mask` of a field. A VLAN's identifier and priority are bits of `vlan`.
struct SetField {
  classify::Field field{};
  classify::FieldNumber number{};  // zero outside the mask
  classify::FieldNumber mask{};
  bool is_load = false;  // written as `load`, which says the same of a register
  auto operator<=>(const SetField&) const = default;
};

struct DecrementTtl {
  auto operator<=>(const DecrementTtl&) const = default;
};

struct PushVlan {
  uint16_t eth_type = 0;
  auto operator<=>(const PushVlan&) const = default;
};

struct PopVlan {
  auto operator<=>(const PopVlan&) const = default;
};

// Looks up again, in a table or in this one, as if it had come in at a port or where it has; then
// goes on with the actions behind.
struct Resubmit {
  std::optional<uint16_t> port{};
  std::optional<uint8_t> table{};
  auto operator<=>(const Resubmit&) const = default;
};

// Goes on in a later table; the last action.
struct GotoTable {
  uint8_t table = 0;
  auto operator<=>(const GotoTable&) const = default;
};

// Asks the connection tracker: notes a new connection, and looks up again in a table.
struct Track {
  bool commits = false;
  std::optional<uint8_t> table{};
  auto operator<=>(const Track&) const = default;
};

using Action = std::variant<Output, OutputToInPort, SetField, DecrementTtl, PushVlan, PopVlan,
                            Resubmit, GotoTable, Track>;

struct Flow {
  uint8_t table = 0;
  uint64_t cookie = 0;
  classify::Rule match{.priority = kDefaultPriority};  // its `action` is not used
  std::vector<Action> actions{};                       // none: drop

  // What the match says of the packet's kind: 0 where it says nothing.
  [[nodiscard]] uint16_t eth_type() const { return exact(classify::Field::kEthType); }
  [[nodiscard]] uint8_t ip_proto() const {
    return static_cast<uint8_t>(exact(classify::Field::kIpProto));
  }
  // Such packets have no ports.
  [[nodiscard]] bool has_only_later_fragments() const {
    return (get(match.value, classify::Field::kIpFrag).low & classify::kFragmentLater) != 0;
  }

 private:
  [[nodiscard]] uint16_t exact(classify::Field field) const {
    if (get(match.mask, field) != classify::all_ones(field)) return 0;
    return static_cast<uint16_t>(get(match.value, field).low);
  }
};

}  // namespace roost::openflow

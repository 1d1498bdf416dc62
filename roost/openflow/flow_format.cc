// Writing flows: see flow_text.h.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "roost/net/address.h"
#include "roost/openflow/flow_text.h"
#include "roost/openflow/flow_words.h"

namespace roost::openflow {

using classify::Field;
using classify::FieldNumber;

namespace {

// "0x1f"; "0" of zero, as printf's %#x.
std::string hex(uint64_t number) { return number == 0 ? "0" : fmt::format("{:#x}", number); }

template <class Address>
Address address_of(FieldNumber number) {
  Address address;
  address.bytes = bytes_of<sizeof(address.bytes)>(number);
  return address;
}

std::string text_of(Field field, FieldNumber number) {
  switch (field) {
    case Field::kEthSrc:
    case Field::kEthDst:
      return address_of<net::MacAddress>(number).format();
    case Field::kIpv4Src:
    case Field::kIpv4Dst:
      return address_of<net::Ipv4Address>(number).format();
    case Field::kIpv6Src:
    case Field::kIpv6Dst:
      return address_of<net::Ipv6Address>(number).format();
    case Field::kReg0:
    case Field::kReg1:
    case Field::kReg2:
    case Field::kReg3:
      return hex(number.low);
    default:
      return std::to_string(number.low);
  }
}

// The words of a match, a comma behind each.
class MatchWriter {
 public:
  explicit MatchWriter(const Flow& flow) : flow_(flow) {}

  std::string write() {
    if (flow_.match.priority != kDefaultPriority) add("priority={}", flow_.match.priority);
    write_flags("ct_state", Field::kCtState, kConnectionStateNames);
    write_kind();
    for (const Field field : {Field::kReg0, Field::kReg1, Field::kReg2, Field::kReg3})
      write_masked(classify::place_of(field).name, field);
    if (looks_at(Field::kInPort)) add("in_port={}", value(Field::kInPort).low);
    write_vlan();
    write_address("dl_src", Field::kEthSrc);
    write_address("dl_dst", Field::kEthDst);
    const bool is_ipv6 = flow_.eth_type() == kEthIpv6;
    write_address(is_ipv6 ? "ipv6_src" : "nw_src", is_ipv6 ? Field::kIpv6Src : Field::kIpv4Src);
    write_address(is_ipv6 ? "ipv6_dst" : "nw_dst", is_ipv6 ? Field::kIpv6Dst : Field::kIpv4Dst);
    if (looks_at(Field::kIpProto) && !has_protocol_word_)
      add("nw_proto={}", value(Field::kIpProto).low);
    if (looks_at(Field::kIpDscp)) add("nw_tos={}", value(Field::kIpDscp).low << 2);
    write_fragment();
    write_transport();
    if (!text_.empty()) text_.pop_back();
    return std::move(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += ',';
  }
  [[nodiscard]] FieldNumber value(Field field) const { return get(flow_.match.value, field); }
  [[nodiscard]] FieldNumber mask(Field field) const { return get(flow_.match.mask, field); }
  [[nodiscard]] bool looks_at(Field field) const { return mask(field) != FieldNumber{}; }
  [[nodiscard]] bool is_exact(Field field) const { return mask(field) == all_ones(field); }

  void write_kind() {
    if (!looks_at(Field::kEthType)) return;
    const uint16_t type = flow_.eth_type();
    const uint8_t protocol = flow_.ip_proto();
    const auto word_of = [&](uint8_t ip_proto) {
      return std::ranges::find_if(kProtocolWords, [&](const ProtocolWord& word) {
        return word.eth_type == type && word.ip_proto == ip_proto;
      });
    };
    const auto* word = word_of(protocol);
    has_protocol_word_ = protocol != 0 && word != kProtocolWords.end();
    if (word == kProtocolWords.end()) word = word_of(0);
    if (word == kProtocolWords.end()) {
      add("dl_type={:#06x}", type);
    } else {
      add("{}", word->word);
    }
  }

  // A number: plain if all of it counts, else with its mask.
  void write_masked(std::string_view name, Field field) {
    if (!looks_at(field)) return;
    if (is_exact(field)) {
      add("{}={}", name, text_of(field, value(field)));
    } else {
      add("{}={}/{}", name, hex(value(field).low), hex(mask(field).low));
    }
  }

  // The same of ports, whose zero has its mark.
  void write_port(std::string_view name, Field field) {
    if (!looks_at(field)) return;
    if (is_exact(field)) {
      add("{}={}", name, value(field).low);
    } else {
      add("{}={:#x}/{:#x}", name, value(field).low, mask(field).low);
    }
  }

  void write_address(std::string_view name, Field field) {
    if (!looks_at(field)) return;
    const std::string address = text_of(field, value(field));
    const unsigned bits = classify::place_of(field).bits;
    const FieldNumber ones = mask(field);
    const auto length = static_cast<unsigned>(std::popcount(ones.high) + std::popcount(ones.low));
    if (length == bits) {
      add("{}={}", name, address);
    } else if (bits != 48 && ones == prefix_mask(field, length)) {
      add("{}={}/{}", name, address, length);
    } else {
      add("{}={}/{}", name, address, text_of(field, ones));
    }
  }

  void write_vlan() {
    if (!looks_at(Field::kVlan)) return;
    const auto number = static_cast<uint16_t>(value(Field::kVlan).low);
    const auto ones = static_cast<uint16_t>(mask(Field::kVlan).low);
    const unsigned identifier = ones & kVlanIdentifier;
    const unsigned priority = ones & kVlanPriority;
    const bool is_of_tag = (ones & number & classify::kVlanPresent) != 0 &&
                           (identifier == 0 || identifier == kVlanIdentifier) &&
                           (priority == 0 || priority == kVlanPriority) &&
                           (identifier | priority) != 0;
    if (!is_of_tag) {
      add("vlan_tci={:#06x}/{:#06x}", number, ones);
      return;
    }
    if (identifier != 0) add("dl_vlan={}", number & kVlanIdentifier);
    if (priority != 0) add("dl_vlan_pcp={}", number >> kVlanPriorityShift);
  }

  void write_flags(std::string_view name, Field field, std::span<const std::string_view> names) {
    if (!looks_at(field)) return;
    const bool is_whole = is_exact(field);
    std::string flags;
    for (size_t bit = 0; bit < names.size(); ++bit) {
      const bool is_set = ((value(field).low >> bit) & 1) != 0;
      if (((mask(field).low >> bit) & 1) == 0 || (is_whole && !is_set)) continue;
      if (!is_whole) {
        flags += is_set ? '+' : '-';
      } else if (!flags.empty()) {
        flags += '|';
      }
      flags += names[bit];
    }
    add("{}={}", name, flags.empty() ? "0" : flags);
  }

  void write_fragment() {
    if (!looks_at(Field::kIpFrag)) return;
    for (const FragmentWord& word : kFragmentWords) {
      if (word.mask == mask(Field::kIpFrag).low && word.value == value(Field::kIpFrag).low)
        add("nw_frag={}", word.word);
    }
  }

  void write_transport() {
    if (is_icmp(flow_.eth_type(), flow_.ip_proto())) {
      if (looks_at(Field::kIcmpType)) add("icmp_type={}", value(Field::kIcmpType).low);
      if (looks_at(Field::kIcmpCode)) add("icmp_code={}", value(Field::kIcmpCode).low);
      return;
    }
    write_port("tp_src", Field::kTpSrc);
    write_port("tp_dst", Field::kTpDst);
    write_flags("tcp_flags", Field::kTcpFlags, kTcpFlagNames);
  }

  const Flow& flow_;
  std::string text_;
  bool has_protocol_word_ = false;
};

std::string text_of(const SetField& action, uint8_t ip_proto) {
  const auto place = classify::place_of(action.field);
  if (action.field == Field::kVlan) {
    if (action.mask.low == kVlanPriority)
      return fmt::format("set_field:{}->vlan_pcp", action.number.low >> kVlanPriorityShift);
    return fmt::format("set_field:{}->vlan_vid", action.number.low | classify::kVlanPresent);
  }
  if (action.is_load) {
    const int first = std::countr_zero(action.mask.low);
    const int last = 63 - std::countl_zero(action.mask.low);
    const std::string bits = action.mask == all_ones(action.field) ? ""
                             : first == last                       ? std::to_string(first)
                                             : fmt::format("{}..{}", first, last);
    return fmt::format("load:{}->NXM_NX_REG{}[{}]", hex(action.number.low >> first),
                       place.name.back(), bits);
  }
  const auto* word = std::ranges::find_if(kSetWords, [&](const SetWord& set) {
    return set.field == action.field && (set.ip_proto == 0 || set.ip_proto == ip_proto);
  });
  return fmt::format("set_field:{}->{}", text_of(action.field, action.number), word->word);
}

// An action in the flow's words.
struct ActionWriter {
  uint8_t ip_proto;

  std::string operator()(const Output& output) const {
    return fmt::format("output:{}", output.port);
  }
  std::string operator()(const OutputToInPort& /*action*/) const { return "IN_PORT"; }
  std::string operator()(const SetField& action) const { return text_of(action, ip_proto); }
  std::string operator()(const DecrementTtl& /*action*/) const { return "dec_ttl"; }
  std::string operator()(const PushVlan& push) const {
    return fmt::format("push_vlan:{:#06x}", push.eth_type);
  }
  std::string operator()(const PopVlan& /*action*/) const { return "pop_vlan"; }
  std::string operator()(const Resubmit& resubmit) const {
    if (!resubmit.table) return fmt::format("resubmit:{}", resubmit.port.value_or(0));
    const std::string port = resubmit.port ? std::to_string(*resubmit.port) : "";
    return fmt::format("resubmit({},{})", port, *resubmit.table);
  }
  std::string operator()(const GotoTable& action) const {
    return fmt::format("goto_table:{}", action.table);
  }
  std::string operator()(const Track& track) const {
    const std::string table = track.table ? fmt::format("table={}", *track.table) : "";
    return fmt::format("ct({}{}{})", track.commits ? "commit" : "",
                       track.commits && track.table ? "," : "", table);
  }
};

}  // namespace

std::string format_match(const Flow& flow) { return MatchWriter(flow).write(); }

std::string format_actions(const Flow& flow) {
  if (flow.actions.empty()) return "drop";
  std::string text;
  for (const Action& action : flow.actions) {
    if (!text.empty()) text += ',';
    text += std::visit(ActionWriter{flow.ip_proto()}, action);
  }
  return text;
}

std::string format_flow(const Flow& flow) {
  std::string text = flow.table == 0 ? "" : fmt::format("table:{} ", flow.table);
  const std::string match = format_match(flow);
  if (!match.empty()) text += match + " ";
  if (flow.cookie != 0) text += fmt::format("cookie:{:#x} ", flow.cookie);
  return text + "actions=" + format_actions(flow);
}

}  // namespace roost::openflow

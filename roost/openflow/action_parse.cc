// Reading actions: see action_text.h.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "roost/net/address.h"
#include "roost/net/headers.h"
#include "roost/openflow/action_text.h"
#include "roost/openflow/flow_words.h"

namespace roost::openflow {

using classify::Field;
using classify::FieldNumber;

namespace {

constexpr uint8_t kTableMax = kTablesMax - 1;
constexpr std::string_view kGivePort = "give a port's number; OpenFlow's own ports are not here";
constexpr std::string_view kGiveTable = "give a table from 0 to 7";

// Older words that set a field, and the word that `set_field` has for it. Which port's it is, the
// match says.
struct OlderWord {
  std::string_view word;
  std::string_view set_word;
};
constexpr std::array kOlderWords = {
    OlderWord{"mod_dl_src", "eth_src"},    OlderWord{"mod_dl_dst", "eth_dst"},
    OlderWord{"mod_nw_src", "ip_src"},     OlderWord{"mod_nw_dst", "ip_dst"},
    OlderWord{"mod_vlan_vid", "vlan_vid"}, OlderWord{"mod_vlan_pcp", "vlan_pcp"},
};

template <class Wanted>
bool has_action(const Flow& flow) {
  return std::ranges::any_of(
      flow.actions, [](const Action& action) { return std::holds_alternative<Wanted>(action); });
}

// Whether a packet has a tag when it comes to the next action.
bool has_tag(const Flow& flow) {
  bool has_one = (get(flow.match.value, Field::kVlan).low & classify::kVlanPresent) != 0;
  for (const Action& action : flow.actions) {
    if (std::holds_alternative<PushVlan>(action)) has_one = true;
    if (std::holds_alternative<PopVlan>(action)) has_one = false;
  }
  return has_one;
}

template <class Address>
std::optional<FieldNumber> read_bytes(std::string_view text) {
  const Result<Address> address = Address::parse(text);
  if (!address) return std::nullopt;
  return number_of(address.value().bytes);
}

std::optional<FieldNumber> read_number_of(Field field, std::string_view text) {
  switch (field) {
    case Field::kEthSrc:
    case Field::kEthDst:
      return read_bytes<net::MacAddress>(text);
    case Field::kIpv4Src:
    case Field::kIpv4Dst:
      return read_bytes<net::Ipv4Address>(text);
    case Field::kIpv6Src:
    case Field::kIpv6Dst:
      return read_bytes<net::Ipv6Address>(text);
    default: {
      const std::optional<uint64_t> number = parse_number(text, all_ones(field).low);
      if (!number) return std::nullopt;
      return FieldNumber{.low = *number};
    }
  }
}

std::string set_vlan(std::string_view word, std::string_view text, bool pushes, Flow& flow) {
  const bool is_identifier = word == "vlan_vid";
  const uint64_t most = is_identifier ? classify::kVlanPresent | kVlanIdentifier : 7;
  const std::optional<uint64_t> number = parse_number(text, most);
  if (!number) return is_identifier ? "give a number from 0 to 4095" : "give a number from 0 to 7";
  if (!has_tag(flow)) {
    if (!pushes) return "push a tag before it, or match packets that have one";
    flow.actions.emplace_back(PushVlan{net::vlan::kCustomer});
  }
  if (is_identifier) {
    flow.actions.emplace_back(
        SetField{Field::kVlan, {.low = *number & kVlanIdentifier}, {.low = kVlanIdentifier}});
  } else {
    flow.actions.emplace_back(
        SetField{Field::kVlan, {.low = *number << kVlanPriorityShift}, {.low = kVlanPriority}});
  }
  return "";
}

// What a match must say before an action may write a field; "" if it does.
std::string kind_for(const SetWord& set, const Flow& flow) {
  const uint16_t type = flow.eth_type();
  if (set.field == Field::kIpDscp && type != kEthIpv4 && type != kEthIpv6)
    return "match ip or ipv6, whose field it sets";
  if (set.eth_type != 0 && set.eth_type != type)
    return set.eth_type == kEthIpv4 ? "match ip, whose field it sets"
                                    : "match ipv6, whose field it sets";
  if (set.ip_proto != 0 && set.ip_proto != flow.ip_proto())
    return fmt::format("match {}, whose field it sets", set.word.substr(0, set.word.find('_')));
  if (set.ip_proto != 0 && flow.has_only_later_fragments()) return "later fragments have no ports";
  return "";
}

std::string set_one(std::string_view word, std::string_view text, bool pushes, Flow& flow) {
  const auto* set = std::ranges::find(kSetWords, word, &SetWord::word);
  if (set == kSetWords.end()) return "no such field can be set here";
  if (std::string kind = kind_for(*set, flow); !kind.empty()) return kind;
  if (set->field == Field::kVlan) return set_vlan(word, text, pushes, flow);
  SetField action{set->field, {}, all_ones(set->field)};
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::optional<FieldNumber> mask = read_number_of(set->field, text.substr(slash + 1));
    const bool is_run = mask && mask->low != 0 &&
                        std::has_single_bit((mask->low >> std::countr_zero(mask->low)) + 1);
    if (!is_register(set->field) || !is_run)
      return "only registers are set in part, and their bits must be side by side";
    action.mask = *mask;
    action.is_load = action.mask != all_ones(set->field);
    text = text.substr(0, slash);
  }
  const std::optional<FieldNumber> number = read_number_of(set->field, text);
  if (!number) return fmt::format("give a value of {}", word);
  action.number = {number->high & action.mask.high, number->low & action.mask.low};
  flow.actions.emplace_back(action);
  return "";
}

// "VALUE->FIELD"
std::string read_set_field(std::string_view text, Flow& flow) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return "give set_field:VALUE->FIELD";
  return set_one(text.substr(arrow + 2), text.substr(0, arrow), false, flow);
}

// "VALUE->NXM_NX_REG0[FIRST..LAST]"
std::string read_load(std::string_view text, Flow& flow) {
  constexpr std::string_view kGive =
      "load only writes registers here: give load:VALUE->NXM_NX_REG0[FIRST..LAST], 0 to 3";
  constexpr std::string_view kName = "NXM_NX_REG";
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return std::string(kGive);
  std::string_view to = text.substr(arrow + 2);
  const bool is_register = to.starts_with(kName) && to.size() > kName.size() + 2 &&
                           to[kName.size()] >= '0' && to[kName.size()] <= '3' &&
                           to[kName.size() + 1] == '[' && to.ends_with(']');
  if (!is_register) return std::string(kGive);
  const auto field = static_cast<Field>(static_cast<unsigned>(Field::kReg0) +
                                        static_cast<unsigned>(to[kName.size()] - '0'));
  to = to.substr(kName.size() + 2);
  to.remove_suffix(1);
  std::optional<uint64_t> first = 0;
  std::optional<uint64_t> last = 31;
  if (!to.empty()) {
    const size_t dots = to.find("..");
    first = parse_number(to.substr(0, dots), 31);
    last = dots == std::string_view::npos ? first : parse_number(to.substr(dots + 2), 31);
  }
  if (!first || !last || *first > *last) return std::string(kGive);
  const uint64_t most = UINT64_MAX >> (63 - (*last - *first));
  const std::optional<uint64_t> number = parse_number(text.substr(0, arrow), most);
  if (!number) return fmt::format("give a value up to {}, which fits there", most);
  flow.actions.emplace_back(
      SetField{field, {.low = *number << *first}, {.low = most << *first}, true});
  return "";
}

// "PORT", "(PORT,TABLE)" where each may be left out.
std::string read_resubmit(std::string_view text, Flow& flow) {
  constexpr std::string_view kGive = "give resubmit:PORT or resubmit(PORT,TABLE), tables 0 to 7";
  std::string_view port_text = text;
  std::string_view table_text;
  if (text.starts_with('(') && text.ends_with(')')) {
    text = text.substr(1, text.size() - 2);
    const size_t comma = text.find(',');
    port_text = text.substr(0, comma);
    if (comma != std::string_view::npos) table_text = text.substr(comma + 1);
  }
  Resubmit action;
  if (!port_text.empty() && port_text != "in_port") {
    const std::optional<uint64_t> port = parse_number(port_text, kPortMax);
    if (!port) return std::string(kGive);
    action.port = static_cast<uint16_t>(*port);
  }
  if (!table_text.empty()) {
    const std::optional<uint64_t> table = parse_number(table_text, kTableMax);
    if (!table) return std::string(kGive);
    action.table = static_cast<uint8_t>(*table);
  }
  if (!action.port && !action.table) return std::string(kGive);
  flow.actions.emplace_back(action);
  return "";
}

// "commit,table=2", in any order.
std::string read_track(std::string_view text, Flow& flow) {
  Track action;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word == "commit") {
      action.commits = true;
    } else if (word.starts_with("table=")) {
      const std::optional<uint64_t> table = parse_number(word.substr(6), kTableMax);
      if (!table) return std::string(kGiveTable);
      action.table = static_cast<uint8_t>(*table);
    } else {
      return "ct has commit and table here";
    }
  }
  const uint16_t type = flow.eth_type();
  if (type != kEthIpv4 && type != kEthIpv6) return "match ip or ipv6, whose connections it tracks";
  const bool is_invalid = (get(flow.match.value, Field::kCtState).low & kConnectionInvalid) != 0;
  if (action.commits && is_invalid) return "leave out commit: the packets that match are invalid";
  flow.actions.emplace_back(action);
  return "";
}

std::string read_output(std::string_view text, Flow& flow) {
  const std::optional<uint64_t> port = parse_number(text, kPortMax);
  if (!port) return std::string(kGivePort);
  flow.actions.emplace_back(Output{static_cast<uint16_t>(*port)});
  return "";
}

std::string read_goto_table(std::string_view text, Flow& flow) {
  const std::optional<uint64_t> table = parse_number(text, kTableMax);
  if (!table) return std::string(kGiveTable);
  if (*table <= flow.table) return "give a table behind the flow's own";
  flow.actions.emplace_back(GotoTable{static_cast<uint8_t>(*table)});
  return "";
}

std::string read_vlan_action(std::string_view name, std::string_view text, Flow& flow) {
  if (name == "push_vlan") {
    const std::optional<uint64_t> type = parse_number(text, UINT16_MAX);
    if (!type || (*type != net::vlan::kCustomer && *type != net::vlan::kService))
      return "give 0x8100 or 0x88a8";
    if (has_tag(flow)) return "the packet has a tag, and a second one is not pushed here";
    flow.actions.emplace_back(PushVlan{static_cast<uint16_t>(*type)});
    return "";
  }
  if (!has_tag(flow)) return "match packets that have a tag: with dl_vlan, say";
  flow.actions.emplace_back(PopVlan{});
  return "";
}

std::string read_mod(std::string_view name, std::string_view text, Flow& flow) {
  if (name == "mod_nw_tos") {
    const std::optional<uint64_t> number = parse_number(text, 255);
    if (!number || *number % 4 != 0) return "give a multiple of 4 from 0 to 252";
    return set_one("ip_dscp", std::to_string(*number / 4), false, flow);
  }
  if (name == "mod_tp_src" || name == "mod_tp_dst") {
    for (const SetWord& set : kSetWords) {
      const bool is_it = set.ip_proto != 0 && set.ip_proto == flow.ip_proto() &&
                         set.word.ends_with(name.substr(name.size() - 4));
      if (is_it) return set_one(set.word, text, false, flow);
    }
    return "match tcp, udp or sctp, whose port it sets";
  }
  const auto* older = std::ranges::find(kOlderWords, name, &OlderWord::word);
  if (older == kOlderWords.end()) return "no such action";
  return set_one(older->set_word, text, true, flow);
}

std::string read_plain(std::string_view word, Flow& flow) {
  if (word == "in_port" || word == "IN_PORT") {
    flow.actions.emplace_back(OutputToInPort{});
    return "";
  }
  if (word == "dec_ttl") {
    const uint16_t type = flow.eth_type();
    if (type != kEthIpv4 && type != kEthIpv6) return "match ip or ipv6, whose field it sets";
    flow.actions.emplace_back(DecrementTtl{});
    return "";
  }
  if (word == "strip_vlan" || word == "pop_vlan") return read_vlan_action(word, "", flow);
  if (word == "ct") return read_track("", flow);
  if (!word.empty() && word[0] >= '0' && word[0] <= '9') return read_output(word, flow);
  return "no such action here; there are output, in_port, drop, set_field, dec_ttl, push_vlan, "
         "pop_vlan, resubmit, goto_table and ct";
}

}  // namespace

std::string read_action(std::string_view word, Flow& flow) {
  if (has_action<GotoTable>(flow)) return "goto_table must be the last action";
  const size_t end = word.find_first_of(":(");
  if (end == std::string_view::npos) return read_plain(word, flow);
  const std::string_view name = word.substr(0, end);
  const std::string_view text = word.substr(end + (word[end] == ':' ? 1 : 0));
  const bool is_in_brackets = text.starts_with('(') && text.ends_with(')');
  if (name == "resubmit") return read_resubmit(text, flow);
  if (name == "ct" && is_in_brackets) return read_track(text.substr(1, text.size() - 2), flow);
  if (word[end] == '(') return "no such action with brackets here";
  if (name == "output") {
    return text == "in_port" || text == "IN_PORT" ? read_plain(text, flow)
                                                  : read_output(text, flow);
  }
  if (name == "set_field") return read_set_field(text, flow);
  if (name == "load") return read_load(text, flow);
  if (name == "goto_table") return read_goto_table(text, flow);
  if (name == "push_vlan") return read_vlan_action(name, text, flow);
  return read_mod(name, text, flow);
}

}  // namespace roost::openflow

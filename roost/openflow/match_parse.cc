// Reading the words of a match: see match_text.h.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "roost/net/address.h"
#include "roost/openflow/flow_words.h"
#include "roost/openflow/match_text.h"

namespace roost::openflow {

using classify::Field;
using classify::FieldNumber;

namespace {

// How the value of a key is written.
enum class Form : uint8_t {
  kNumber,        // 80
  kMaskedNumber,  // 80, 0x50/0xf0
  kMac,           // 02:00:00:00:00:01, with a mask behind '/'
  kIpv4,          // 10.0.0.1, 10.0.0.0/8, 10.0.0.0/255.0.255.0
  kIpv6,          // the same
  kTypeOfService,
  kVlanIdentifier,
  kVlanPriority,
  kVlanControl,
  kVlanOxm,  // the identifier, and kVlanPresent as a thirteenth bit
  kTcpFlags,
  kConnectionState,
  kFragment,
};

struct MatchKey {
  std::string_view key;
  Field field;
  Form form;
};
constexpr std::array kMatchKeys = {
    MatchKey{"in_port", Field::kInPort, Form::kNumber},
    MatchKey{"dl_src", Field::kEthSrc, Form::kMac},
    MatchKey{"eth_src", Field::kEthSrc, Form::kMac},
    MatchKey{"dl_dst", Field::kEthDst, Form::kMac},
    MatchKey{"eth_dst", Field::kEthDst, Form::kMac},
    MatchKey{"dl_type", Field::kEthType, Form::kNumber},
    MatchKey{"eth_type", Field::kEthType, Form::kNumber},
    MatchKey{"dl_vlan", Field::kVlan, Form::kVlanIdentifier},
    MatchKey{"dl_vlan_pcp", Field::kVlan, Form::kVlanPriority},
    MatchKey{"vlan_pcp", Field::kVlan, Form::kVlanPriority},
    MatchKey{"vlan_tci", Field::kVlan, Form::kVlanControl},
    MatchKey{"vlan_vid", Field::kVlan, Form::kVlanOxm},
    MatchKey{"nw_src", Field::kIpv4Src, Form::kIpv4},
    MatchKey{"ip_src", Field::kIpv4Src, Form::kIpv4},
    MatchKey{"nw_dst", Field::kIpv4Dst, Form::kIpv4},
    MatchKey{"ip_dst", Field::kIpv4Dst, Form::kIpv4},
    MatchKey{"ipv6_src", Field::kIpv6Src, Form::kIpv6},
    MatchKey{"ipv6_dst", Field::kIpv6Dst, Form::kIpv6},
    MatchKey{"nw_proto", Field::kIpProto, Form::kNumber},
    MatchKey{"ip_proto", Field::kIpProto, Form::kNumber},
    MatchKey{"nw_tos", Field::kIpDscp, Form::kTypeOfService},
    MatchKey{"ip_dscp", Field::kIpDscp, Form::kNumber},
    MatchKey{"nw_frag", Field::kIpFrag, Form::kFragment},
    MatchKey{"ip_frag", Field::kIpFrag, Form::kFragment},
    MatchKey{"tp_src", Field::kTpSrc, Form::kMaskedNumber},
    MatchKey{"tcp_src", Field::kTpSrc, Form::kMaskedNumber},
    MatchKey{"udp_src", Field::kTpSrc, Form::kMaskedNumber},
    MatchKey{"sctp_src", Field::kTpSrc, Form::kMaskedNumber},
    MatchKey{"tp_dst", Field::kTpDst, Form::kMaskedNumber},
    MatchKey{"tcp_dst", Field::kTpDst, Form::kMaskedNumber},
    MatchKey{"udp_dst", Field::kTpDst, Form::kMaskedNumber},
    MatchKey{"sctp_dst", Field::kTpDst, Form::kMaskedNumber},
    MatchKey{"tcp_flags", Field::kTcpFlags, Form::kTcpFlags},
    MatchKey{"icmp_type", Field::kIcmpType, Form::kNumber},
    MatchKey{"icmpv6_type", Field::kIcmpType, Form::kNumber},
    MatchKey{"icmp_code", Field::kIcmpCode, Form::kNumber},
    MatchKey{"icmpv6_code", Field::kIcmpCode, Form::kNumber},
    MatchKey{"ct_state", Field::kCtState, Form::kConnectionState},
    MatchKey{"reg0", Field::kReg0, Form::kMaskedNumber},
    MatchKey{"reg1", Field::kReg1, Form::kMaskedNumber},
    MatchKey{"reg2", Field::kReg2, Form::kMaskedNumber},
    MatchKey{"reg3", Field::kReg3, Form::kMaskedNumber},
};

// A value and the bits of it that count.
struct Masked {
  FieldNumber number{};
  FieldNumber mask{};
};
using MaskedOr = std::variant<Masked, std::string>;  // or what to give instead

// The text before '/', and what is behind it.
std::pair<std::string_view, std::optional<std::string_view>> split_mask(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

MaskedOr read_number(Field field, std::string_view value, bool has_mask) {
  const uint64_t most = all_ones(field).low;
  const auto [text, mask_text] = split_mask(value);
  const std::optional<uint64_t> number = parse_number(text, most);
  std::optional<uint64_t> mask = most;
  if (mask_text) mask = has_mask ? parse_number(*mask_text, most) : std::nullopt;
  if (!number || !mask) {
    return fmt::format("give a number from 0 to {}{}", most, has_mask ? ", or NUMBER/MASK" : "");
  }
  return Masked{{.low = *number & *mask}, {.low = *mask}};
}

// Of addresses: a mask is one more address, or a number of bits.
template <class Address>
MaskedOr read_address(Field field, std::string_view value, bool has_prefix, const char* give) {
  const auto [text, mask_text] = split_mask(value);
  const Result<Address> address = Address::parse(text);
  Masked masked{{}, all_ones(field)};
  if (mask_text) {
    const std::optional<uint64_t> bits =
        has_prefix ? parse_number(*mask_text, classify::place_of(field).bits) : std::nullopt;
    const Result<Address> mask = Address::parse(*mask_text);
    if (!bits && !mask) return give;
    masked.mask =
        bits ? prefix_mask(field, static_cast<unsigned>(*bits)) : number_of(mask.value().bytes);
  }
  if (!address) return give;
  const FieldNumber number = number_of(address.value().bytes);
  masked.number = {number.high & masked.mask.high, number.low & masked.mask.low};
  return masked;
}

// "+syn-ack", "syn|ack", or a number with or without a mask.
MaskedOr read_flags(Field field, std::string_view value, std::span<const std::string_view> names) {
  const uint64_t all = all_ones(field).low;
  std::string give = fmt::format("give flags such as +{}-{}, {}|{}, or a number", names[1],
                                 names[0], names[0], names[1]);
  if (!value.empty() && value[0] >= '0' && value[0] <= '9') {
    const MaskedOr number = read_number(field, value, true);
    return std::holds_alternative<Masked>(number) ? number : MaskedOr(give);
  }
  const bool is_signed = value.starts_with('+') || value.starts_with('-');
  uint64_t set = 0;
  uint64_t seen = 0;
  while (!value.empty()) {
    bool is_set = true;
    if (is_signed || seen != 0) {
      const bool is_mark = is_signed ? value[0] == '+' || value[0] == '-' : value[0] == '|';
      if (!is_mark) return give;
      is_set = value[0] != '-';
      value.remove_prefix(1);
    }
    const std::string_view name = value.substr(0, value.find_first_of("+-|"));
    const auto at = std::ranges::find(names, name);
    const uint64_t bit = uint64_t{1} << (at - names.begin());
    if (at == names.end() || (seen & bit) != 0) return give;
    seen |= bit;
    if (is_set) set |= bit;
    value.remove_prefix(name.size());
  }
  if (seen == 0) return give;
  return Masked{{.low = set}, {.low = is_signed ? seen : all}};
}

MaskedOr read_fragment(std::string_view value) {
  for (const FragmentWord& word : kFragmentWords) {
    if (word.word == value) return Masked{{.low = word.value}, {.low = word.mask}};
  }
  return "give no, yes, first, later or not_later";
}

MaskedOr read_vlan(Form form, std::string_view value) {
  constexpr uint64_t kTag = classify::kVlanPresent;
  if (form == Form::kVlanIdentifier) {
    if (value == "0xffff") return Masked{{}, {.low = kTag | kVlanIdentifier}};  // without a tag
    const std::optional<uint64_t> identifier = parse_number(value, kVlanIdentifier);
    if (!identifier) return "give a number from 0 to 4095, or 0xffff for packets without a tag";
    return Masked{{.low = kTag | *identifier}, {.low = kTag | kVlanIdentifier}};
  }
  if (form == Form::kVlanPriority) {
    const std::optional<uint64_t> priority = parse_number(value, 7);
    if (!priority) return "give a number from 0 to 7";
    return Masked{{.low = kTag | *priority << kVlanPriorityShift}, {.low = kTag | kVlanPriority}};
  }
  const uint64_t all = form == Form::kVlanOxm ? kTag | kVlanIdentifier : 0xffff;
  const auto [text, mask_text] = split_mask(value);
  const std::optional<uint64_t> number = parse_number(text, all);
  const std::optional<uint64_t> mask = mask_text ? parse_number(*mask_text, all) : all;
  if (!number || !mask) return "give a number such as 0x1005, or NUMBER/MASK such as 0x1000/0x1000";
  Masked masked{{.low = *number & *mask}, {.low = *mask}};
  const bool is_without = (*mask & kTag) != 0 && (*number & kTag) == 0;
  if (!is_without) return masked;
  if (masked.number.low != 0) return "add 0x1000, the bit that says that there is a tag";
  return Masked{{}, {.low = kTag | kVlanIdentifier}};
}

MaskedOr read_type_of_service(std::string_view value) {
  const std::optional<uint64_t> number = parse_number(value, 255);
  if (!number || *number % 4 != 0) {
    return "give a multiple of 4 from 0 to 252: the lowest two bits are ECN's";
  }
  return Masked{{.low = *number >> 2}, all_ones(Field::kIpDscp)};
}

MaskedOr read_value(const MatchKey& key, std::string_view value) {
  switch (key.form) {
    case Form::kNumber:
      return read_number(key.field, value, false);
    case Form::kMaskedNumber:
      return read_number(key.field, value, true);
    case Form::kMac:
      return read_address<net::MacAddress>(key.field, value, false,
                                           "give an address such as 02:00:00:00:00:01, or "
                                           "ADDRESS/MASK");
    case Form::kIpv4:
      return read_address<net::Ipv4Address>(key.field, value, true,
                                            "give an address such as 192.0.2.1, ADDRESS/BITS or "
                                            "ADDRESS/MASK");
    case Form::kIpv6:
      return read_address<net::Ipv6Address>(key.field, value, true,
                                            "give an address such as 2001:db8::1, ADDRESS/BITS or "
                                            "ADDRESS/MASK");
    case Form::kTypeOfService:
      return read_type_of_service(value);
    case Form::kVlanIdentifier:
    case Form::kVlanPriority:
    case Form::kVlanControl:
    case Form::kVlanOxm:
      return read_vlan(key.form, value);
    case Form::kTcpFlags:
      return read_flags(key.field, value, kTcpFlagNames);
    case Form::kConnectionState:
      return read_flags(key.field, value, kConnectionStateNames);
    case Form::kFragment:
      return read_fragment(value);
  }
  return "";
}

// The bits of a field that a word looks at become what it says; others stay.
void put(Flow& flow, Field field, const Masked& masked) {
  const FieldNumber value = get(flow.match.value, field);
  const FieldNumber mask = get(flow.match.mask, field);
  set(flow.match.mask, field,
      {.high = mask.high | masked.mask.high, .low = mask.low | masked.mask.low});
  set(flow.match.value, field,
      {.high = (value.high & ~masked.mask.high) | masked.number.high,
       .low = (value.low & ~masked.mask.low) | masked.number.low});
}

std::string read_port(std::string_view value, Flow& flow) {
  const std::optional<uint64_t> port = parse_number(value, kPortMax);
  if (!port) {
    return fmt::format("give a port's number, up to {}; OpenFlow's own ports are not here",
                       kPortMax);
  }
  put(flow, Field::kInPort, {{.low = *port}, all_ones(Field::kInPort)});
  return "";
}

}  // namespace

std::optional<uint64_t> parse_number(std::string_view word, uint64_t max) {
  int base = 10;
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
    base = 16;
  } else if (word.size() > 1 && word[0] == '0') {
    return std::nullopt;  // octal to some
  }
  uint64_t number = 0;
  const char* begin = word.data();
  const char* end = begin + word.size();
  const auto [at, error] = std::from_chars(begin, end, number, base);
  if (error != std::errc{} || at != end || number > max) return std::nullopt;
  return number;
}

std::string MatchReader::read(std::string_view key, std::string_view value) {
  if (value.empty()) {
    const auto* at = std::ranges::find(kProtocolWords, key, &ProtocolWord::word);
    if (at == kProtocolWords.end()) return "no such word in a match; is a value missing?";
    put(flow_, Field::kEthType, {{.low = at->eth_type}, all_ones(Field::kEthType)});
    if (at->ip_proto != 0) {
      put(flow_, Field::kIpProto, {{.low = at->ip_proto}, all_ones(Field::kIpProto)});
    }
    return "";
  }
  if (key == "in_port") return read_port(value, flow_);
  const auto* at = std::ranges::find(kMatchKeys, key, &MatchKey::key);
  if (at == kMatchKeys.end()) return "a match has no such field here; leave it out";
  const MaskedOr masked = read_value(*at, value);
  if (const auto* give = std::get_if<std::string>(&masked)) return *give;
  put(flow_, at->field, *std::get_if<Masked>(&masked));
  fields_.insert(at->field);
  return "";
}

std::string MatchReader::missing_kind() const {
  const uint16_t type = flow_.eth_type();
  const uint8_t protocol = flow_.ip_proto();
  const bool is_ip = type == kEthIpv4 || type == kEthIpv6;
  const auto reads_any = [&](std::initializer_list<Field> fields) {
    return std::ranges::any_of(fields, [&](Field field) { return fields_.contains(field); });
  };
  if (!is_ip && reads_any({Field::kIpProto, Field::kIpDscp, Field::kIpFrag}))
    return "add ip or ipv6: nw_proto, nw_tos and nw_frag are their fields";
  if (type != kEthIpv4 && reads_any({Field::kIpv4Src, Field::kIpv4Dst}))
    return "add ip: nw_src and nw_dst are fields of IPv4";
  if (type != kEthIpv6 && reads_any({Field::kIpv6Src, Field::kIpv6Dst}))
    return "add ipv6: ipv6_src and ipv6_dst are its fields";
  if (protocol != kTcp && reads_any({Field::kTcpFlags})) return "add tcp: tcp_flags is its field";
  if (!has_ports(protocol) && reads_any({Field::kTpSrc, Field::kTpDst}))
    return "add tcp, udp or sctp: tp_src and tp_dst are their fields";
  if (!is_icmp(type, protocol) && reads_any({Field::kIcmpType, Field::kIcmpCode}))
    return "add icmp or icmp6: icmp_type and icmp_code are their fields";
  const bool reads_transport = reads_any(
      {Field::kTpSrc, Field::kTpDst, Field::kTcpFlags, Field::kIcmpType, Field::kIcmpCode});
  if (flow_.has_only_later_fragments() && reads_transport)
    return "leave out ports, flags, types and codes: later fragments have none";
  return "";
}

}  // namespace roost::openflow

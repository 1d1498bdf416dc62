// Random flows as text, in all words that we take, with masks of all kinds.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "roost/openflow/flow_words.h"
#include "roost/traffic/draw.h"

namespace roost::openflow {

class RandomFlow {
 public:
  explicit RandomFlow(uint64_t seed) : draw_(seed) {}

  std::string line() {
    words_.clear();
    table_ = draw_.below(3) == 0 ? draw_.below(8) : 0;
    if (table_ != 0) words_.push_back(fmt::format("table={}", table_));
    if (maybe()) words_.push_back(fmt::format("priority={}", draw_.below(65'536)));
    if (one_in(8)) words_.push_back(fmt::format("cookie={:#x}", draw_.below(1 << 20)));
    kind_ = &kProtocolWords[draw_.below(kProtocolWords.size())];
    has_tag_ = false;
    packet_words();
    if (!one_in(8)) ip_words();
    return fmt::format("{},actions={}", fmt::join(words_, maybe() ? "," : ", "), actions());
  }

 private:
  [[nodiscard]] bool maybe() { return draw_.below(2) == 0; }
  [[nodiscard]] bool one_in(uint64_t count) { return draw_.below(count) == 0; }
  [[nodiscard]] bool is_ipv4() const { return kind_->eth_type == kEthIpv4; }
  [[nodiscard]] bool is_ip() const { return is_ipv4() || kind_->eth_type == kEthIpv6; }

  template <class... Values>
  void word(fmt::format_string<Values...> format, Values&&... values) {
    words_.push_back(fmt::format(format, std::forward<Values>(values)...));
  }

  std::string mac() {
    const uint64_t bits = draw_.word();
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", bits & 255, bits >> 8 & 255,
                       bits >> 16 & 255, bits >> 24 & 255, bits >> 32 & 255, bits >> 40 & 255);
  }
  std::string ipv4() {
    const uint64_t bits = draw_.word();
    return fmt::format("{}.{}.{}.{}", bits & 255, bits >> 8 & 255, bits >> 16 & 255,
                       bits >> 24 & 255);
  }
  // `ovs-ofctl` takes a mask that begins with a digit for a number of bits; so ours begin with an
  // f.
  std::string ipv6() {
    const uint64_t zeroes = draw_.word();  // groups that are zero, for "::" in every place
    std::vector<std::string> groups;
    for (unsigned group = 0; group < 8; ++group)
      groups.push_back((zeroes >> group & 1) != 0 ? "0" : fmt::format("{:x}", draw_.below(65'536)));
    return fmt::format("{}", fmt::join(groups, ":"));
  }
  std::string masked_number(unsigned bits) {
    const uint64_t number = draw_.word() >> (64 - bits);
    if (maybe()) return std::to_string(number);
    return fmt::format("{:#x}/{:#x}", number, draw_.word() >> (64 - bits));
  }
  template <size_t kCount>
  std::string flags(const std::array<std::string_view, kCount>& names) {
    if (one_in(4)) return fmt::format("{:#x}", draw_.below(1U << kCount));
    std::string text;
    for (const std::string_view name : names) {
      if (!name.starts_with('[') && one_in(3)) text.append(maybe() ? "+" : "-").append(name);
    }
    return text.empty() ? std::string("+").append(names[1]) : text;
  }

  std::string state_without_invalid() {
    for (;;) {
      std::string state = flags(kConnectionStateNames);
      if (state.starts_with('0') || state.find("+inv") != std::string::npos) continue;
      return state;
    }
  }

  void packet_words() {
    if (one_in(3)) word("in_port={}", draw_.below(kPortMax));
    is_invalid_ = one_in(16);
    if (is_invalid_) word("ct_state=+inv");
    if (!is_invalid_ && one_in(4)) {
      word("ct_state={}",
           maybe() ? fmt::format("{:#x}", draw_.below(256) & ~uint64_t{kConnectionInvalid})
                   : state_without_invalid());
    }
    if (one_in(4)) word("reg{}={}", draw_.below(4), masked_number(32));
    if (one_in(3)) word("dl_src={}", mac());
    if (one_in(4)) word("dl_dst={}/{}", mac(), mac());
    if (!one_in(3)) return;
    has_tag_ = true;
    switch (draw_.below(5)) {
      case 0:
        word("dl_vlan={}", draw_.below(4'096));
        break;
      case 1:
        word("dl_vlan={},dl_vlan_pcp={}", draw_.below(4'096), draw_.below(8));
        break;
      case 2:
        // OpenFlow 1.3, in which it prints, has no mask for a priority.
        word("vlan_tci={:#x}/{:#x}", draw_.below(65'536) | 0x1000,
             draw_.below(0x1000) | (maybe() ? 0x1000 : 0xf000));
        break;
      case 3:
        word("vlan_vid={:#x}/{:#x}", draw_.below(0x2000) | 0x1000, draw_.below(0x2000) | 0x1000);
        break;
      default:
        word("{}", maybe() ? "dl_vlan=0xffff" : "vlan_tci=0");
        has_tag_ = false;
    }
  }

  void ip_words() {
    word("{}", kind_->word);
    if (!is_ip()) return;
    for (const char* end : {"src", "dst"}) {
      const std::string address = is_ipv4() ? ipv4() : ipv6();
      const std::string key = fmt::format("{}_{}", is_ipv4() ? "nw" : "ipv6", end);
      switch (draw_.below(4)) {
        case 0:
          word("{}={}", key, address);
          break;
        case 1:
          word("{}={}/{}", key, address, draw_.below(is_ipv4() ? 33 : 129));
          break;
        case 2:
          word("{}={}/{}", key, address, is_ipv4() ? ipv4() : "f" + ipv6().substr(1));
          break;
        default:
          break;
      }
    }
    if (one_in(4)) word("nw_tos={}", draw_.below(64) * 4);
    is_ip_said_ = true;
    is_later_ = one_in(8);
    if (is_later_) word("nw_frag=later");
    if (!is_later_ && one_in(4)) word("nw_frag={}", kFragmentWords[draw_.below(3)].word);
    if (kind_->ip_proto == 0 && one_in(3)) word("nw_proto={}", 133 + draw_.below(100));
    if (is_later_) return;
    if (has_ports(kind_->ip_proto)) {
      if (maybe()) word("tp_src={}", masked_number(16));
      if (maybe()) word("tp_dst={}", masked_number(16));
    }
    if (is_icmp(kind_->eth_type, kind_->ip_proto)) {
      if (maybe()) word("icmp_type={}", draw_.below(256));
      if (maybe()) word("icmp_code={}", draw_.below(256));
    }
    if (kind_->ip_proto == kTcp && maybe()) word("tcp_flags={}", flags(kTcpFlagNames));
  }

  std::string actions() {
    const bool is_ip_packet = is_ip_said_ && is_ip();
    std::vector<std::string> actions;
    for (uint64_t count = draw_.below(5); count > 0; --count) {
      const std::string action = is_ip_packet && maybe() ? ip_action() : any_action();
      if (!action.empty()) actions.push_back(action);
    }
    if (table_ < 7 && one_in(4))
      actions.push_back(fmt::format("goto_table:{}", table_ + 1 + draw_.below(7 - table_)));
    is_ip_said_ = false;
    return actions.empty() ? "drop" : fmt::format("{}", fmt::join(actions, ","));
  }

  std::string any_action() {
    const uint64_t port = draw_.below(kPortMax);
    switch (draw_.below(11)) {
      case 0:
        return fmt::format("output:{}", port);
      case 1:
        return std::to_string(port);
      case 2:
        return "in_port";
      case 3:
        return fmt::format("mod_dl_{}:{}", maybe() ? "src" : "dst", mac());
      case 4:
        return fmt::format("set_field:{}->reg{}", draw_.below(1 << 20), draw_.below(4));
      case 5:
        return load();
      case 6:
        return fmt::format("resubmit({},{})", maybe() ? std::to_string(port) : "", draw_.below(8));
      case 7:
        return fmt::format("resubmit:{}", port);
      case 8:
        return fmt::format("set_field:{}->eth_dst", mac());
      default:
        return vlan_action();
    }
  }

  std::string load() {
    const uint64_t first = draw_.below(32);
    const uint64_t last = first + draw_.below(32 - first);
    const uint64_t number = draw_.word() >> (63 - (last - first));
    if (one_in(4)) return fmt::format("load:{}->NXM_NX_REG1[]", draw_.below(100));
    return fmt::format("load:{:#x}->NXM_NX_REG2[{}..{}]", number, first, last);
  }

  std::string vlan_action() {
    if (!has_tag_) {
      has_tag_ = true;
      return "push_vlan:0x8100";
    }
    switch (draw_.below(4)) {
      case 0:
        has_tag_ = false;
        return maybe() ? "pop_vlan" : "strip_vlan";
      case 1:
        return fmt::format("mod_vlan_vid:{}", draw_.below(4'096));
      case 2:
        return fmt::format("set_field:{}->vlan_pcp", draw_.below(8));
      default:
        return fmt::format("set_field:{}->vlan_vid", 4'096 + draw_.below(4'096));
    }
  }

  std::string ip_action() {
    switch (draw_.below(6)) {
      case 0:
        return "dec_ttl";
      case 1:
        if (is_invalid_) return "ct(table=1)";
        return maybe() ? "ct(commit)" : fmt::format("ct(table={},commit)", draw_.below(8));
      case 2:
        return fmt::format("mod_nw_tos:{}", draw_.below(64) * 4);
      case 3:
        return is_ipv4() ? fmt::format("mod_nw_{}:{}", maybe() ? "src" : "dst", ipv4())
                         : fmt::format("set_field:{}->ipv6_src", ipv6());
      case 4:
        return fmt::format("set_field:{}->ip_dscp", draw_.below(64));
      default:
        if (!has_ports(kind_->ip_proto) || is_later_) return "ct";
        return fmt::format("mod_tp_{}:{}", maybe() ? "src" : "dst", draw_.below(65'536));
    }
  }

  traffic::Draw draw_;
  std::vector<std::string> words_;
  const ProtocolWord* kind_ = nullptr;
  uint64_t table_ = 0;
  bool has_tag_ = false;
  bool is_ip_said_ = false;
  bool is_later_ = false;    // only later fragments match
  bool is_invalid_ = false;  // only packets that the tracker found invalid match
};

}  // namespace roost::openflow

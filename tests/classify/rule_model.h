// What a classifier must answer: the first of all rules, in falling order of priority, that
// matches. And random rules and packets that overlap a lot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "roost/classify/rule.h"
#include "roost/traffic/draw.h"

namespace roost::classify {

// How often random tests repeat: the full number where code is optimised.
#if defined(ROOST_SANITIZED) || !defined(NDEBUG)
inline constexpr bool kIsOptimised = false;
#else
inline constexpr bool kIsOptimised = true;
#endif

class RuleModel {
 public:
  struct Entry {
    Rule rule;
    RuleId id;
    uint64_t order;  // of those added
  };

  void add(const Rule& rule, RuleId id) {
    append(rule, id);
    sort();
  }
  // Of many, to be sorted in the end.
  void append(const Rule& rule, RuleId id) { rules_.push_back({rule, id, order_++}); }
  void sort() {
    // Of equal priority, those added before stand before.
    std::ranges::sort(rules_, {}, [](const Entry& entry) {
      return std::pair(-int{entry.rule.priority}, entry.order);
    });
  }
  // Rules in falling order of priority.
  [[nodiscard]] const std::vector<Entry>& rules() const { return rules_; }
  RuleId erase(size_t place) {
    const RuleId id = rules_[place].id;
    rules_.erase(rules_.begin() + static_cast<std::ptrdiff_t>(place));
    return id;
  }
  void erase(RuleId id) {
    std::erase_if(rules_, [&](const Entry& entry) { return entry.id == id; });
  }

  // nullptr: none matches.
  [[nodiscard]] const Entry* winner(const PacketFields& packet) const {
    for (const Entry& entry : rules_) {
      if (entry.rule.matches(packet)) return &entry;
    }
    return nullptr;
  }

 private:
  std::vector<Entry> rules_;
  uint64_t order_ = 0;  // of the next one
};

// Rules over few masks and few values of each field, so that many overlap, and packets of the same
// values, so that many match.
class RuleDraw {
 public:
  explicit RuleDraw(uint64_t seed) : draw_(seed) {
    mask_count_ = 1 + draw_.below(draw_.below(4) == 0 ? 48 : 12);
    values_a_field_ = 2 + draw_.below(30);
    for (size_t i = 0; i < mask_count_; ++i) masks_.push_back(draw_mask());
  }

  [[nodiscard]] Rule rule() {
    Rule rule;
    rule.mask = masks_[draw_.below(mask_count_)];
    rule.value = packet() & rule.mask;
    rule.priority = static_cast<uint16_t>(draw_.below(draw_.below(2) == 0 ? 8 : 65'536));
    rule.action = static_cast<uint32_t>(draw_.word());
    return rule;
  }

  // One of the values of each field, and now and then anything.
  [[nodiscard]] PacketFields packet() {
    PacketFields fields;
    for (uint64_t& word : fields.words) {
      const uint64_t choice = draw_.below(values_a_field_);
      word = traffic::mix(choice * 0x9E37 + 1) & 0x00ff'00ff'0fff'00ffU;
      if (draw_.below(64) == 0) word = draw_.word();
    }
    return fields;
  }

  [[nodiscard]] traffic::Draw& draw() { return draw_; }

 private:
  // Of one to all words: whole, a prefix of a half, or any bits.
  [[nodiscard]] PacketFields draw_mask() {
    PacketFields mask;
    const uint64_t words = draw_.below(8) == 0 ? kFieldWords : 1 + draw_.below(4);
    for (uint64_t i = 0; i < words; ++i) {
      uint64_t& word = mask.words[words == kFieldWords ? i : draw_.below(kFieldWords)];
      const uint64_t kind = draw_.below(4);
      if (kind == 0) word = ~uint64_t{0};
      if (kind == 1) word = ~uint64_t{0} << draw_.below(64);
      if (kind == 2) word = draw_.word() & draw_.word();
      if (kind == 3) word = (~uint64_t{0} << draw_.below(32)) & 0xffff'ffffU;
    }
    return mask;
  }

  traffic::Draw draw_;
  uint64_t mask_count_ = 1;
  uint64_t values_a_field_ = 2;
  std::vector<PacketFields> masks_;
};

}  // namespace roost::classify

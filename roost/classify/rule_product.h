// Rules that are made of alternatives: all combinations of masks and values of several fields.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "roost/classify/packet_fields.h"
#include "roost/classify/rule.h"

namespace roost::classify {

class RuleProduct {
 public:
  // `all`: what each has. More than `rules_max` are too many.
  RuleProduct(const Rule& all, size_t rules_max) : rules_{all}, rules_max_(rules_max) {}

  // The whole field has this value.
  void require(Field field, uint64_t value) {
    multiply(std::vector<uint64_t>{value}, [&](Rule& rule, uint64_t number) {
      set(rule.mask, field, all_ones(field));
      set(rule.value, field, number);
    });
  }
  // Each rule becomes one for each alternative, to which apply(rule, alternative) adds it. Without
  // alternatives nothing is asked.
  template <class Alternative, class Apply>
  void multiply(const std::vector<Alternative>& alternatives, Apply&& apply) {
    if (alternatives.empty()) return;
    if (rules_.size() * alternatives.size() > rules_max_) is_too_large_ = true;
    if (is_too_large_) return;
    std::vector<Rule> product;
    for (const Rule& rule : rules_) {
      for (const Alternative& alternative : alternatives) {
        product.push_back(rule);
        apply(product.back(), alternative);
      }
    }
    rules_ = std::move(product);
  }

  [[nodiscard]] bool is_too_large() const { return is_too_large_; }
  // Of a product that is not too large.
  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;
  size_t rules_max_;
  bool is_too_large_ = false;
};

// A part of a field's numbers that one mask and value say.
struct AlignedBlock {
  uint16_t value = 0;
  uint16_t mask = 0;
};
// Those that a range of ports is cut into, as few as there are: at most 30.
[[nodiscard]] std::vector<AlignedBlock> aligned_blocks(uint16_t first, uint16_t last);

}  // namespace roost::classify

// The rules that are in force: which one a packet gets, and how many each has decided.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/acl/rule_config.h"
#include "roost/base/result.h"
#include "roost/classify/classifier.h"
#include "roost/expiry/tick.h"

namespace roost::acl {

// One worker's.
class RuleSet {
 public:
  struct Counts {
    uint64_t packets = 0;
    uint64_t bytes = 0;
  };

  // Rules that have masks, each at its place; the last says what becomes of packets that no other
  // one matches, whatever it is about. Errors: memory is unavailable, more masks than a classifier
  // may have; they name the rule.
  static Result<std::unique_ptr<RuleSet>> create(std::vector<RuleConfig> rules,
                                                 std::optional<uint64_t> hash_seed);

  // The places of the rules that packets get, at most net::kBatchLanesMax of them; the last place
  // is of packets that no rule matches. Counts nothing.
  void find(std::span<const classify::PacketFields> packets, std::span<uint32_t> places);
  void count(uint32_t place, uint64_t bytes) {
    ++counts_[place].packets;
    counts_[place].bytes += bytes;
  }

  [[nodiscard]] Action action(uint32_t place) const { return rules_[place].action; }
  [[nodiscard]] bool logs(uint32_t place) const { return rules_[place].logs; }
  [[nodiscard]] const std::string& name(uint32_t place) const { return rules_[place].name; }
  // By place; the last is of packets without a rule.
  [[nodiscard]] const std::vector<RuleConfig>& rules() const { return rules_; }
  [[nodiscard]] std::span<const Counts> counts() const { return counts_; }
  [[nodiscard]] const classify::Classifier& classifier() const { return classifier_; }

  void advance(Tick now) { classifier_.advance(now); }
  void maintain(size_t budget) { classifier_.maintain(budget); }

 private:
  RuleSet(classify::Classifier classifier, std::vector<RuleConfig> rules)
      : classifier_(std::move(classifier)), rules_(std::move(rules)), counts_(rules_.size()) {}

  classify::Classifier classifier_;
  std::vector<RuleConfig> rules_;
  std::vector<Counts> counts_;
};

}  // namespace roost::acl

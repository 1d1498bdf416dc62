// Differences of a new configuration that a running function cannot take over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "roost/config/fault.h"

namespace roost::config {

class Comparison {
 public:
  // `function`: what runs, as faults name it: "the balancer".
  explicit Comparison(std::string function) : function_(std::move(function)) {}

  template <class Value>
  void compare(uint32_t line, const char* what, const Value& running, const Value& file) {
    if (file != running) refuse(line, what);
  }

  // Lists of things in any order; `identity` is what they are, without their lines.
  template <class Element, class Identity>
  void compare_lists(const char* what, const std::vector<Element>& running,
                     const std::vector<Element>& file, Identity identity) {
    const auto has = [&](const std::vector<Element>& all, const Element& one) {
      return std::ranges::find(all, identity(one), identity) != all.end();
    };
    for (const Element& one : file) {
      if (!has(running, one)) return refuse(one.line, what);
    }
    for (const Element& one : running) {
      if (!has(file, one)) return refuse(0, what);
    }
  }

  void fault(uint32_t line, std::string text) { faults_.push_back({line, std::move(text)}); }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  void refuse(uint32_t line, const char* what) {
    fault(line, std::string(what) + " cannot change while " + function_ +
                    " runs; put it back, or restart " + function_);
  }

  std::string function_;
  std::vector<Fault> faults_;
};

}  // namespace roost::config

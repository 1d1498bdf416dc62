// The words of a flow's match, read.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "roost/openflow/flow.h"

namespace roost::openflow {

class MatchReader {
 public:
  explicit MatchReader(Flow& flow) : flow_(flow) {}

  // Reads one word of a match into the flow: "tcp", "nw_src=10.0.0.0/8". Returns what is wrong with
  // it, or what to give; "" if nothing is.
  [[nodiscard]] std::string read(std::string_view key, std::string_view value);

  // When all words are read, for they come in any order: what to add, so that packets have the
  // fields that were named. "" if they have.
  [[nodiscard]] std::string missing_kind() const;

 private:
  Flow& flow_;
  std::set<classify::Field> fields_;  // that were named
};

}  // namespace roost::openflow

// Operations as words, for tests that write them down: what, where, and how many operations before
// it those are that it waits for.
#pragma once

#include <cstdint>
#include <string>

#include "sim/program.h"

namespace roost::sim {

[[nodiscard]] inline std::string at(const char* what, uint64_t address,
                                    const std::string& after = "") {
  return what + std::string(" ") + std::to_string(address) + after;
}

[[nodiscard]] inline std::string text_of(const Op& op) {
  const auto words_of_kind = [&]() -> std::string {
    switch (op.kind) {
      case OpKind::kCompute:
        return "compute " + std::to_string(op.cycles);
      case OpKind::kLoad:
        return at("load", op.address);
      case OpKind::kPrefetch:
        return at("ask", op.address);
      case OpKind::kStore:
        return at("store", op.address);
      case OpKind::kSnapshot:
        return at("snapshot", op.address);
      case OpKind::kLookupB:
        return at("lookup", op.address, at(" in", op.table));
      case OpKind::kLookupNb:
        return at("lookup", op.address, at(" in", op.table, at(" to", op.result)));
    }
    return "";
  };
  std::string words = words_of_kind();
  for (const uint16_t after : op.after) words += after == 0 ? "" : " -" + std::to_string(after);
  return words + (op.stop == FetchStop::kMispredicted ? " unforeseen" : "");
}

}  // namespace roost::sim

// How people and their programs name a network function.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::control {

struct FunctionNames {
  std::string_view command;            // "lb", of `roost lb`
  std::string_view noun;               // "balancer", as messages name it
  std::string_view full_table_advice;  // what to look at when a table is full
};

// For a function that adds nothing to the line on the terminal.
struct NoStatus {
  static constexpr size_t kStatusCount = 0;
  static std::array<uint64_t, 0> status(const auto&) { return {}; }
  static std::string status_text(const auto&, const auto&) { return {}; }
};

}  // namespace roost::control

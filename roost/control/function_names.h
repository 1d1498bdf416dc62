// How people and their programs name a network function.
#pragma once

#include <string_view>

namespace roost::control {

struct FunctionNames {
  std::string_view command;            // "lb", of `roost lb`
  std::string_view noun;               // "balancer", as messages name it
  std::string_view full_table_advice;  // what to look at when a table is full
};

}  // namespace roost::control

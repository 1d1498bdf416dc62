// What is wrong with a configuration file, and what to do about it. Faults are collected, so that
// one reading finds them all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"

namespace roost::config {

// The text says what is wrong and what to do; the line is where, 0 if it concerns the file as a
// whole.
struct Fault {
  uint32_t line = 0;
  std::string text{};
};

// "file:line: what is wrong; what to do"
[[nodiscard]] std::string describe(const Fault& fault, std::string_view path);

// One error with a line for each fault.
[[nodiscard]] Error error_of(const std::vector<Fault>& faults, std::string_view path);

}  // namespace roost::config

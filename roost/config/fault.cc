#include "roost/config/fault.h"

#include <utility>

namespace roost::config {

std::string describe(const Fault& fault, std::string_view path) {
  const std::string place = fault.line == 0 ? "" : ":" + std::to_string(fault.line);
  return std::string(path) + place + ": " + fault.text;
}

Error error_of(const std::vector<Fault>& faults, std::string_view path) {
  std::string text;
  for (const Fault& fault : faults) {
    text += (text.empty() ? "" : "\n") + describe(fault, path);
  }
  return Error{std::move(text)};
}

}  // namespace roost::config

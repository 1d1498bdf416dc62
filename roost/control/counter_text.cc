#include "roost/control/counter_text.h"

#include <fmt/format.h>

namespace roost::control {

void write_cell(std::string_view text, int columns, TextOut out) {
  fmt::format_to(out, " {:>{}}", text, columns);
}

void write_cell(uint64_t count, int columns, TextOut out) {
  fmt::format_to(out, " {:>{}}", count, columns);
}

std::string in_words(uint64_t count, std::string_view words, std::string_view function) {
  return fmt::format("{} {}", count, fmt::format(fmt::runtime(words), function));
}

}  // namespace roost::control

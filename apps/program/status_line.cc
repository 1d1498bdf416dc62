#include "apps/program/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace roost::program {

StatusLine::StatusLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

StatusLine::~StatusLine() {
  if (is_shown_) fmt::print(stderr, "\r\x1b[K");
}

void StatusLine::show(const Numbers& numbers, std::string_view own) {
  if (!is_terminal_) return;
  ++seconds_;
  // Carriage return, text, clear to the end of the line.
  fmt::print(stderr, "\r{} s  {:.3f} Mpackets/s  {} packets  {} dropped{}\x1b[K", seconds_,
             static_cast<double>(numbers.packets - before_.packets) / 1e6, numbers.packets,
             numbers.drops, own);
  std::fflush(stderr);
  is_shown_ = true;
  before_ = numbers;
}

}  // namespace roost::program

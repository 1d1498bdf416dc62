#include "apps/lb/control/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace roost::lb {

StatusLine::StatusLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

StatusLine::~StatusLine() {
  if (is_shown_) fmt::print(stderr, "\r\x1b[K");
}

void StatusLine::show(const Numbers& numbers) {
  if (!is_terminal_) return;
  ++seconds_;
  const FlowCounts& flows = numbers.flows;
  // Carriage return, text, clear to the end of the line.
  fmt::print(stderr,
             "\r{} s  {:.3f} Mpackets/s  {} packets  {} dropped  flows: {} made, {}/s, {} not yet "
             "over\x1b[K",
             seconds_, static_cast<double>(numbers.packets - before_.packets) / 1e6,
             numbers.packets, numbers.drops, flows.made, flows.made - before_.flows.made,
             flows.held());
  std::fflush(stderr);
  is_shown_ = true;
  before_ = numbers;
}

}  // namespace roost::lb

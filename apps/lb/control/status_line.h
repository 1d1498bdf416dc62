// One line on the terminal, rewritten every second while traffic flows. Nothing when standard error
// is not a terminal.
#pragma once

#include <cstdint>

#include "apps/lb/datapath/connections.h"

namespace roost::lb {

class StatusLine {
 public:
  StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();  // leaves the terminal at the start of an empty line

  struct Numbers {
    uint64_t packets = 0;  // since the start, as the others
    uint64_t drops = 0;
    FlowCounts flows{};
  };
  // To be called about once a second.
  void show(const Numbers& numbers);

 private:
  bool is_terminal_;
  bool is_shown_ = false;
  uint64_t seconds_ = 0;
  Numbers before_{};
};

}  // namespace roost::lb

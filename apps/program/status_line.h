// One line on the terminal, rewritten every second while traffic flows. Nothing when standard error
// is not a terminal.
#pragma once

#include <cstdint>
#include <string_view>

namespace roost::program {

class StatusLine {
 public:
  StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();  // leaves the terminal at the start of an empty line

  struct Numbers {
    uint64_t packets = 0;  // since the start, as the others
    uint64_t drops = 0;
  };
  // To be called about once a second. `own`: what the function adds.
  void show(const Numbers& numbers, std::string_view own = {});

 private:
  bool is_terminal_;
  bool is_shown_ = false;
  uint64_t seconds_ = 0;
  Numbers before_{};
};

}  // namespace roost::program

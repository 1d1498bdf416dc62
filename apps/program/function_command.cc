#include "apps/program/function_command.h"

namespace roost::program {

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void note_signal(int signal) { stop_signal = signal; }

}  // namespace

void complain(std::string_view text) { fmt::print(stderr, "roost: {}\n", text); }

const volatile std::sig_atomic_t& end_in_order_on_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop_signal;
}

}  // namespace roost::program

// Two functions that take turns in one thread, at points that they name: each point may be the end
// of a turn, as a seed says. So a fault that needs a certain order of steps is found in seconds,
// and found again. What it does not show is what processors do with the order of memory.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace roost {

class Fibres {
 public:
  static constexpr size_t kStackBytes = size_t{1} << 18;

  // `turn_points` is how many points a turn has, on average.
  Fibres(uint64_t seed, unsigned turn_points) : random_(seed), turn_points_(turn_points) {}

  // Runs both to their ends.
  void run(std::function<void()> first, std::function<void()> second) {
    functions_ = {std::move(first), std::move(second)};
    current_ = this;
    for (size_t i = 0; i < 2; ++i) {
      stacks_[i].resize(kStackBytes);
      getcontext(&contexts_[i]);
      contexts_[i].uc_stack.ss_sp = stacks_[i].data();
      contexts_[i].uc_stack.ss_size = kStackBytes;
      contexts_[i].uc_link = &main_;
      makecontext(&contexts_[i], begin, 0);
    }
    while (!is_over_[0] || !is_over_[1]) {
      if (is_over_[running_]) running_ = 1 - running_;
      swapcontext(&main_, &contexts_[running_]);
    }
    current_ = nullptr;
  }

  // A point: maybe it is the other's turn. One of `points` that are close together counts as less.
  static void point(unsigned points = 1) {
    if (current_ != nullptr &&
        current_->random_() % (uint64_t{current_->turn_points_} * points) == 0)
      give_up_turn();
  }
  // Whether it is the turn of the first one, or of nobody.
  [[nodiscard]] static bool is_first() { return current_ == nullptr || current_->running_ == 0; }
  // The other's turn, if it is not at its end.
  static void give_up_turn() {
    if (current_ == nullptr) return;
    Fibres& self = *current_;
    const size_t mine = self.running_;
    if (self.is_over_[1 - mine]) return;
    self.running_ = 1 - mine;
    swapcontext(&self.contexts_[mine], &self.contexts_[1 - mine]);
  }

 private:
  static void begin() {
    Fibres& self = *current_;
    const size_t mine = self.running_;
    self.functions_[mine]();
    self.is_over_[mine] = true;
  }

  static inline Fibres* current_ = nullptr;

  std::minstd_rand random_;
  unsigned turn_points_;
  std::array<std::function<void()>, 2> functions_;
  std::array<std::vector<char>, 2> stacks_;
  std::array<ucontext_t, 2> contexts_{};
  ucontext_t main_{};
  std::array<bool, 2> is_over_{};
  size_t running_ = 0;
};

}  // namespace roost

// An object that many threads read and one replaces by another: readers never wait, and an old one
// is freed when nobody can be reading it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "roost/concurrent/grace_periods.h"

namespace roost {

template <class T>
class Replaceable {
 public:
  // One a thread; it must not outlive the replaceable.
  class Reader {
   public:
    // Calls read(object) with the one that is in use, which it must not keep; its result.
    template <class Read>
    auto with(Read&& read) {
      auto result = read(*current_->load(std::memory_order_acquire));
      points_.pass();
      return result;
    }
    // Around times in which the thread reads nothing: else old objects stay.
    void pause() { points_.pause(); }
    void resume() { points_.resume(); }

   private:
    friend class Replaceable;
    Reader(const std::atomic<const T*>* current, GracePeriods::Reader points)
        : current_(current), points_(std::move(points)) {}

    const std::atomic<const T*>* current_;
    GracePeriods::Reader points_;
  };

  explicit Replaceable(std::unique_ptr<T> first)
      : owned_(std::move(first)), current_(owned_.get()) {}
  Replaceable(const Replaceable&) = delete;
  Replaceable& operator=(const Replaceable&) = delete;

  // From any thread.
  [[nodiscard]] Reader reader() { return {&current_, periods_.join()}; }

  // The rest is one thread's at a time.
  [[nodiscard]] T& current() { return *owned_; }
  [[nodiscard]] const T& current() const { return *owned_; }
  // Without memory for that, nothing is replaced.
  void replace(std::unique_ptr<T> next) {
    retired_.reserve(retired_.size() + 1);
    std::unique_ptr<T> before = std::exchange(owned_, std::move(next));
    current_.store(owned_.get(), std::memory_order_release);
    retired_.push_back({std::move(before), periods_.begin()});
    free_retired();
  }
  // Frees those that nobody can be reading; how many are left.
  size_t free_retired() {
    std::erase_if(retired_,
                  [this](const Retired& retired) { return periods_.is_over(retired.period); });
    return retired_.size();
  }

 private:
  struct Retired {
    std::unique_ptr<T> object;
    uint64_t period;
  };

  std::unique_ptr<T> owned_;
  std::atomic<const T*> current_;
  GracePeriods periods_;
  std::vector<Retired> retired_;
};

}  // namespace roost

// When what one thread has taken out of sight can be freed: once every reader has passed a
// quiescent point, a moment at which it holds nothing that it read before.
//
//   GracePeriods::Reader reader = periods.join();   // one a thread
//   look(current.load(acquire)); reader.pass();     // again and again
//
//   old = current.exchange(next);                   // whoever changes it
//   uint64_t period = periods.begin();
//   if (periods.is_over(period)) free(old);         // asked now and then
//
// Order: a reader that passes after a period has begun loads its number with acquire, so its later
// loads see what was stored before the period; that it has passed it stores with release, after all
// that it has read.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace roost {

class GracePeriods {
  static constexpr uint64_t kPaused = UINT64_MAX;

  // A line of its own a reader, which only that reader stores.
  struct alignas(64) Seen {
    std::atomic<uint64_t> period{kPaused};
  };
  static_assert(sizeof(Seen) == 64);

 public:
  // A thread that reads. It leaves when it is destroyed; it must not outlive the periods.
  class Reader {
   public:
    Reader(Reader&& other) noexcept
        : periods_(other.periods_), seen_(std::exchange(other.seen_, nullptr)) {}
    Reader& operator=(Reader&&) = delete;
    ~Reader() {
      if (seen_ != nullptr) periods_->leave(seen_);
    }

    // A quiescent point. Stores only if a period has begun since the last one.
    void pass() {
      const uint64_t now = periods_->begun_.load(std::memory_order_acquire);
      if (seen_->period.load(std::memory_order_relaxed) != now)
        seen_->period.store(now, std::memory_order_release);
    }

    // For a thread that reads nothing for long, which else would hold up all frees: from a
    // quiescent point to resume(), which waits for whoever joins or asks meanwhile.
    void pause() { seen_->period.store(kPaused, std::memory_order_release); }
    void resume() {
      const std::lock_guard lock(periods_->mutex_);
      pass();
    }

   private:
    friend class GracePeriods;
    Reader(GracePeriods* periods, Seen* seen) : periods_(periods), seen_(seen) {}

    GracePeriods* periods_;
    Seen* seen_;
  };

  GracePeriods() = default;
  GracePeriods(const GracePeriods&) = delete;
  GracePeriods& operator=(const GracePeriods&) = delete;

  [[nodiscard]] Reader join() {
    const std::lock_guard lock(mutex_);
    Seen& seen = readers_.emplace_back();
    seen.period.store(begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return {this, &seen};
  }

  // Begins a period, after something was taken out of sight; its number.
  [[nodiscard]] uint64_t begin() { return begun_.fetch_add(1, std::memory_order_acq_rel) + 1; }
  // Whether all readers have passed a point since.
  [[nodiscard]] bool is_over(uint64_t period) {
    const std::lock_guard lock(mutex_);
    for (const Seen& seen : readers_)
      if (seen.period.load(std::memory_order_acquire) < period) return false;
    return true;
  }

 private:
  void leave(const Seen* reader) {
    const std::lock_guard lock(mutex_);
    readers_.remove_if([reader](const Seen& seen) { return &seen == reader; });
  }

  std::atomic<uint64_t> begun_{0};
  std::mutex mutex_;  // of the list, and against readers that come while it is looked through
  std::list<Seen> readers_;
};

}  // namespace roost

// Access to a table by one writer and many readers at a time (CuckooSwitch; CSW-04 to CSW-09).
//
// Idea: buckets share version counters, a few thousand for all of them. Before something changes in
// a bucket, its counter becomes odd, and afterwards even again. A reader that remembers the
// counters of a key's buckets, searches them and finds the counters as they were and even, has seen
// nothing change; else it searches again. Readers only load.
//
// Order, by the C++ memory model and without fences: counters become odd by a relaxed store, the
// words of the table and then the even counter are stored with release, and readers load all of
// them with acquire. A reader that saw a word of a change so sees its odd counter, or a later one,
// when it looks again; one that saw an even counter before sees every word stored before that.
//
// An entry of one word needs no counters when it is found: the word was whole when it was read, and
// says itself whose it is. That a key was not found must be validated: it may have moved from the
// bucket that was searched last to the one that was searched first.
//
// Each step makes each counter odd once, however many of its buckets share it.
// tests/model/shared_table.pml has every interleaving of a small table, and what goes wrong without
// this.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <thread>

#include "roost/base/assert.h"
#include "roost/hash/hash64.h"
#include "roost/isa/kernel.h"
#include "roost/isa/pause.h"
#include "roost/isa/scalar.h"
#include "roost/table/access.h"

namespace roost {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

class OneWriterManyReaders {
  using Counter = std::atomic<uint64_t>;

 public:
  static constexpr bool kIsShared = true;

  explicit OneWriterManyReaders(const AccessShape& shape)
      : hashed_buckets_(shape.hashed_buckets),
        counter_mask_(shape.version_counters - 1),
        counters_(std::make_unique<Counter[]>(shape.version_counters + 1)) {
    ROOST_ASSERT(std::has_single_bit(shape.version_counters));
  }

  static void store(uint64_t& word, uint64_t value) {
    std::atomic_ref(word).store(value, std::memory_order_release);
  }
  [[nodiscard]] static uint64_t load(const uint64_t& word) {
    return std::atomic_ref(const_cast<uint64_t&>(word)).load(std::memory_order_acquire);
  }

  // The one place where words that may change are read by a vector's load, which C++ knows nothing
  // of: every answer that follows from it is looked at again (TableAccess). The thread sanitizer
  // sees a word after the other.
  template <Kernel K>
  [[nodiscard, gnu::always_inline]] static uint8_t match_words(const uint64_t* words,
                                                               uint64_t word) {
    if constexpr (kUnderThreadSanitizer) {
      alignas(64) std::array<uint64_t, 8> loaded;
      for (size_t i = 0; i < loaded.size(); ++i) loaded[i] = load(words[i]);
      return ScalarKernel::match_words(loaded.data(), word);
    } else {
      return K::match_words(words, word);
    }
  }

  // While one lives, the counters of its buckets are odd. The writer's.
  class Step {
   public:
    Step(Counter* counters, std::array<uint64_t, 2> indices)
        : counters_(counters), indices_(indices) {
      for_each([](Counter& counter) { add_one(counter, std::memory_order_relaxed); });
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() {
      for_each([](Counter& counter) { add_one(counter, std::memory_order_release); });
    }

   private:
    template <class Visit>
    void for_each(Visit&& visit) {
      visit(counters_[indices_[0]]);
      if (indices_[1] != indices_[0]) visit(counters_[indices_[1]]);
    }
    // Nobody else stores it.
    static void add_one(Counter& counter, std::memory_order order) {
      counter.store(counter.load(std::memory_order_relaxed) + 1, order);
    }

    Counter* counters_;
    std::array<uint64_t, 2> indices_;
  };
  [[nodiscard]] Step step(BucketIndex bucket) const { return step(bucket, bucket); }
  [[nodiscard]] Step step(BucketIndex one, BucketIndex other) const {
    return {counters_.get(), {index_of(one), index_of(other)}};
  }

  // Calls search(), which says what it found, until that is a whole word or nothing has changed
  // meanwhile in a key's two buckets and the stash; `repeated()` before each further time.
  template <class Search, class Repeated>
  bool search(BucketIndex one, BucketIndex other, Search&& search, Repeated&& repeated) const {
    const std::array<uint64_t, 3> indices = {index_of(one), index_of(other), counter_mask_ + 1};
    for (unsigned attempt = 0;; ++attempt) {
      if (attempt != 0) {
        repeated();
        wait(attempt);
      }
      std::array<uint64_t, 3> before;
      bool is_changing = false;
      for (size_t i = 0; i < indices.size(); ++i) {
        before[i] = counters_[indices[i]].load(std::memory_order_acquire);
        is_changing = is_changing || before[i] % 2 != 0;
      }
      if (is_changing) continue;
      const Sought found = search();
      if (found == Sought::kWord) return true;
      bool has_changed = false;
      for (size_t i = 0; i < indices.size(); ++i) {
        has_changed =
            has_changed || counters_[indices[i]].load(std::memory_order_relaxed) != before[i];
      }
      if (!has_changed) return found == Sought::kWords;
    }
  }

 private:
  // The stash has a counter of its own, behind the others.
  [[nodiscard]] uint64_t index_of(BucketIndex bucket) const {
    const auto number = static_cast<uint64_t>(bucket);
    return number < hashed_buckets_ ? number & counter_mask_ : counter_mask_ + 1;
  }

  // Longer and longer; a writer that the system has put to sleep needs the processor.
  static void wait(unsigned attempt) {
    if (attempt > 16) {
      std::this_thread::yield();
      return;
    }
    for (unsigned i = 0; i < 1U << std::min(attempt, 6U); ++i) pause_processor();
  }

  uint64_t hashed_buckets_;
  uint64_t counter_mask_;
  std::unique_ptr<Counter[]> counters_;
};

static_assert(TableAccess<OneWriterManyReaders>);

}  // namespace roost

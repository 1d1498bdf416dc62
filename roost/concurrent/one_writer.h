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

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "roost/base/assert.h"
#include "roost/concurrent/atomic_words.h"
#include "roost/concurrent/walk_place.h"
#include "roost/hash/hash64.h"
#include "roost/table/access.h"
#include "roost/table/packed_line.h"
#include "roost/table/tag_line.h"

namespace roost {

// Whether lines that may change are searched as they are, which a test may refuse.
template <class Words>
inline constexpr bool kLooksAtLines =
    !kUnderThreadSanitizer && !requires { Words::kLooksAtCopies; };

template <class Words>
class VersionedAccess {
  using Counter = std::atomic<uint64_t>;

 public:
  static constexpr bool kIsShared = true;

  explicit VersionedAccess(const AccessShape& shape)
      : hashed_buckets_(shape.hashed_buckets),
        counter_mask_(shape.version_counters - 1),
        counters_(std::make_unique<Counter[]>(shape.version_counters + 1)) {
    ROOST_ASSERT(std::has_single_bit(shape.version_counters));
  }

  static void store(uint64_t& word, uint64_t value) { Words::store(&word, value); }
  [[nodiscard]] static uint64_t load(const uint64_t& word) { return Words::load(&word); }
  // Stores `value` if the word is still as it was seen: what readers may do.
  [[nodiscard]] static bool replace(const uint64_t& word, uint64_t seen, uint64_t value) {
    return Words::replace(const_cast<uint64_t*>(&word), seen, value);
  }

  // The one place where a line that may change is read by a vector's load, or otherwise than by its
  // words, which C++ knows nothing of: what follows from it is a hint, and every answer is looked
  // at again. The thread sanitizer sees a copy.
  template <class Line>
  [[nodiscard, gnu::always_inline]] static decltype(auto) look(const Line& line) {
    if constexpr (kLooksAtLines<Words>) {
      return (line);
    } else {
      return copy(line);
    }
  }

  template <class Line, class Change>
  static void change(Line& line, Change&& change) {
    const Line before = copy(line);
    Line after = before;
    change(after);
    store_changes<Words>(line, before, after);
  }
  static void write(std::byte* to, const std::byte* from, size_t bytes) {
    write_words<Words>(to, from, bytes);
  }

  // Copies that are whole if nothing has changed meanwhile: a line; those of its words that say
  // what is in its slots; some of its bytes; and bytes elsewhere.
  template <class Line>
  [[nodiscard]] static Line copy(const Line& line) {
    return copy_of<Words>(line);
  }
  template <class Line>
  [[nodiscard, gnu::always_inline]] static Line marks(const Line& line) {
    return copy_of<Words>(line, Line::kFirstWordOfMarks, Line::kEndOfMarks);
  }
  template <class Line>
  [[nodiscard, gnu::always_inline]] static uint64_t bytes(const Line& line, size_t offset,
                                                          size_t count) {
    return bytes_of<Words>(line, offset, count);
  }
  template <class Line>
  [[nodiscard, gnu::always_inline]] static uint64_t word(const Line& line, size_t number) {
    return Words::load(reinterpret_cast<const uint64_t*>(&line) + number);
  }
  static void read(std::byte* to, const std::byte* from, size_t bytes) {
    read_words<Words>(to, from, bytes);
  }

  // A timer, which readers may store.
  template <class Line>
  [[nodiscard]] static SeenTimer timer(const Line& line, unsigned slot) {
    const TimerPlace place = timer_place(line, slot);
    return {Words::load(place.word), place.shift};
  }
  // Stores a timer if its word is as it was seen.
  template <class Line>
  [[nodiscard]] static bool replace_timer(const Line& line, unsigned slot, SeenTimer seen,
                                          uint16_t timer) {
    return Words::replace(timer_place(line, slot).word, seen.word, seen.with(timer));
  }
  template <class Line>
  static void set_timer(Line& line, unsigned slot, uint16_t timer) {
    const TimerPlace place = timer_place(line, slot);
    change_word<Words>(place.word, [&](uint64_t word) {
      return SeenTimer{word, place.shift}.with(timer);
    });
  }
  // Makes it another one, and returns what it was.
  template <class Line>
  static uint16_t take_timer(Line& line, unsigned slot) {
    const TimerPlace place = timer_place(line, slot);
    const uint64_t was = change_word<Words>(place.word, [&](uint64_t word) {
      const SeenTimer seen{word, place.shift};
      return seen.with(static_cast<uint16_t>(seen.timer() + 1));
    });
    return SeenTimer{was, place.shift}.timer();
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

  // Waits for another thread, longer and longer.
  static void wait(unsigned attempt) { Words::wait(attempt); }

  // Walks over the table that miss nothing while the writer moves entries.
  [[nodiscard]] Walks& walks() { return walks_; }
  template <class Append>
  void moved(BucketIndex from, BucketIndex to, Append&& append) const {
    walks_.moved(from, to, append);
  }

  // Calls read() until nothing has changed in a bucket meanwhile.
  template <class Read>
  void read_whole(BucketIndex bucket, Read&& read) const {
    for (unsigned attempt = 0; !is_in(bucket, [&] { return read(), true; }); ++attempt)
      Words::wait(attempt);
  }

  // Calls read(), which says whether a key is in a bucket; true if it is, and nothing has changed
  // there meanwhile.
  template <class Read>
  [[nodiscard, gnu::always_inline]] bool is_in(BucketIndex bucket, Read&& read) const {
    const Counter& counter = counters_[index_of(bucket)];
    const uint64_t before = counter.load(std::memory_order_acquire);
    return before % 2 == 0 && read() && counter.load(std::memory_order_relaxed) == before;
  }

  // Calls search(), which says what it found, until that is a whole word or nothing has changed
  // meanwhile in a key's two buckets and the stash; `repeated()` before each further time.
  template <class Search, class Repeated>
  bool search(BucketIndex one, BucketIndex other, Search&& search, Repeated&& repeated) const {
    const std::array<uint64_t, 3> indices = {index_of(one), index_of(other), counter_mask_ + 1};
    for (unsigned attempt = 0;; ++attempt) {
      if (attempt != 0) {
        repeated();
        Words::wait(attempt);
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
  struct TimerPlace {
    uint64_t* word;
    unsigned shift;
  };
  template <class Line>
  [[nodiscard]] static TimerPlace timer_place(const Line& line, unsigned slot) {
    const size_t offset = offsetof(Line, timers) + slot * sizeof(uint16_t);
    auto* words = reinterpret_cast<uint64_t*>(const_cast<Line*>(&line));
    return {&words[offset / sizeof(uint64_t)],
            static_cast<unsigned>(offset % sizeof(uint64_t) * 8)};
  }

  // The stash has a counter of its own, behind the others.
  [[nodiscard]] uint64_t index_of(BucketIndex bucket) const {
    const auto number = static_cast<uint64_t>(bucket);
    return number < hashed_buckets_ ? number & counter_mask_ : counter_mask_ + 1;
  }

  uint64_t hashed_buckets_;
  uint64_t counter_mask_;
  std::unique_ptr<Counter[]> counters_;
  Walks walks_;
};

using OneWriterManyReaders = VersionedAccess<AtomicWords>;

static_assert(TableAccess<OneWriterManyReaders, TagLine> &&
              TableAccess<OneWriterManyReaders, PackedLine>);

}  // namespace roost

// What the published forwarding table is made of, rung by rung (CuckooSwitch, figure 5): policies
// of CuckooSwitch, each with what the one before it lacks.
//
//   baseline    counters by atomic additions, of readers too; one key at a time; small pages
//   + pages     huge ones
//   + order     counters by ordinary loads and stores, as x86 orders them
//   + batch     14 keys at a time, all counters read before and after
//   + prefetch  first buckets asked for beforehand, second ones where the first has no such key
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::lab {

using VersionCounter = std::atomic<uint32_t>;

// How words of the table and counters are read and written. Each pair of a store and a load with
// the same name pairs with each other.
struct AcquireRelease {
  [[nodiscard]] static uint32_t read(VersionCounter& counter) {
    return counter.load(std::memory_order_acquire);
  }
  // Only the writer does so.
  static void add_one(VersionCounter& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[nodiscard]] static uint64_t load(const uint64_t& word) {
    return std::atomic_ref(const_cast<uint64_t&>(word)).load(std::memory_order_acquire);
  }
  static void store(uint64_t& word, uint64_t value) {
    std::atomic_ref(word).store(value, std::memory_order_release);
  }
};

// Every access to a counter is an addition, which on x86 is a barrier as well.
struct SequentiallyConsistent : AcquireRelease {
  [[nodiscard]] static uint32_t read(VersionCounter& counter) {
    return counter.fetch_add(0, std::memory_order_seq_cst);
  }
  static void add_one(VersionCounter& counter) { counter.fetch_add(1, std::memory_order_seq_cst); }
};

struct BaselineRung {
  static constexpr std::string_view kName = "cuckooswitch_baseline";
  using Order = SequentiallyConsistent;
  static constexpr size_t kLanesPerCallMax = 1;
  static constexpr bool kPrefetches = false;
  static constexpr bool kSmallPages = true;  // whatever pages the others are on
};

struct PagesRung : BaselineRung {
  static constexpr std::string_view kName = "cuckooswitch_pages";
  static constexpr bool kSmallPages = false;
};

struct OrderRung : PagesRung {
  static constexpr std::string_view kName = "cuckooswitch_order";
  using Order = AcquireRelease;
};

struct BatchRung : OrderRung {
  static constexpr std::string_view kName = "cuckooswitch_batch";
  static constexpr size_t kLanesPerCallMax = 32;
};

// All of it: the scheme as it was published.
struct PublishedRung : BatchRung {
  static constexpr std::string_view kName = "cuckooswitch";
  static constexpr bool kPrefetches = true;
};

}  // namespace roost::lab

// A ring of records from one thread to one other, of which neither waits: the writer finds no room
// when it is full, the reader nothing when it is empty.
//
//   written_ ---> the next record to write      read_ ---> the next record to read
//   written_ - read_ records are the reader's, the others the writer's
//
// R1 0 <= written_ - read_ <= capacity. Both only grow.
// R2 A record changes hands by a release of the counter behind it and an acquire by the other side,
//    so that what one wrote is what the other reads, and is not written over before it was read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/base/assert.h"

namespace roost {

// One thread writes, one reads.
template <class Record>
class SpscRing {
 public:
  explicit SpscRing(size_t capacity) : records_(capacity) { ROOST_ASSERT(capacity > 0); }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // --- The writer's. ---
  // The next record, which holds old bytes; null when the ring is full. The same one until
  // publish().
  [[nodiscard]] Record* claim() {
    const uint64_t written = written_.load(std::memory_order_relaxed);
    // Pairs with release(): the reader is done with the record.
    if (written - read_.load(std::memory_order_acquire) == records_.size()) return nullptr;
    return &records_[written % records_.size()];
  }
  // Whether the reader wants no more; what is still written is read all the same.
  [[nodiscard]] bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  // The claimed record is the reader's.
  void publish() {
    written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // --- The reader's. ---
  // The oldest record; null when the ring is empty. The same one until release().
  [[nodiscard]] const Record* front() const {
    const uint64_t read = read_.load(std::memory_order_relaxed);
    // Pairs with publish(): the record is whole.
    if (read == written_.load(std::memory_order_acquire)) return nullptr;
    return &records_[read % records_.size()];
  }
  // The oldest record is the writer's again.
  void release() {
    read_.store(read_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // It wants no more.
  void close() { is_closed_.store(true, std::memory_order_relaxed); }

 private:
  std::vector<Record> records_;
  alignas(64) std::atomic<uint64_t> written_{0};
  alignas(64) std::atomic<uint64_t> read_{0};
  std::atomic<bool> is_closed_{false};  // orders nothing; in the line that only the reader writes
};

}  // namespace roost

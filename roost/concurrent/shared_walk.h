// A walk over the entries of a table while it changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "roost/concurrent/walk_place.h"
#include "roost/concurrent/whole_bucket.h"
#include "roost/hash/hash64.h"

namespace roost {

// What is there all the time is visited at least once, and nothing is visited torn; what comes or
// goes meanwhile is, or is not. The writer writes down entries that it moves from what lies ahead
// of a walk to what lies behind it: memory for one entry a move, and a few instructions of each
// move while a walk is there. A walk must not outlive its table, and is one thread's at a time.
template <class Shared, class Key, class Value>
class SharedWalk {
 public:
  explicit SharedWalk(Shared& shared) : shared_(&shared), place_(std::make_unique<WalkPlace>()) {
    walks(*shared.write()).begin(*place_);
  }
  SharedWalk(SharedWalk&&) noexcept = default;
  SharedWalk& operator=(SharedWalk&&) = delete;
  ~SharedWalk() {
    if (place_ != nullptr && !is_over_) leave();
  }

  // Calls visit(key, value) with the entries of so many buckets, and at the end with those that
  // were moved; false then. It waits for the right to write at the end, for a moment's use.
  template <class Visit>
  bool visit(uint64_t bucket_count, Visit&& visit) {
    const uint64_t end = shared_->table().bucket_count();
    for (; bucket_count > 0 && next_ < end; --bucket_count)
      visit_bucket(BucketIndex{next_++}, visit);
    if (next_ < end) return true;
    if (!is_over_) leave();
    for (size_t at = 0; at < place_->passed.size(); at += kKeyBytes + kValueBytes) {
      const std::byte* key = place_->passed.data() + at;
      const auto [copied_key, copied_value] = copy_of_entry<Key, Value>(key, key + kKeyBytes);
      visit(copied_key, copied_value);
    }
    place_->passed.clear();
    return false;
  }

 private:
  using Layout = typename Shared::Core::Layout;
  static constexpr size_t kKeyBytes = Layout::kKeyBytes;
  static constexpr size_t kValueBytes = std::is_empty_v<Value> ? 0 : sizeof(Value);

  [[nodiscard]] static Walks& walks(typename Shared::Table& table) {
    return table.core().engine().placement().access().walks();
  }
  void leave() {
    walks(*shared_->write()).end(*place_);
    is_over_ = true;
  }

  template <class Visit>
  void visit_bucket(BucketIndex bucket, Visit&& visit) {
    place_->end.exchange(next_, std::memory_order_acq_rel);
    visit_whole_bucket<Key, Value>(shared_->table().core().engine(), bucket, visit);
  }

  Shared* shared_;
  std::unique_ptr<WalkPlace> place_;
  uint64_t next_ = 0;
  bool is_over_ = false;
};

}  // namespace roost

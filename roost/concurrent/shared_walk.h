// A walk over the entries of a table while it changes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "roost/concurrent/walk_place.h"
#include "roost/hash/hash64.h"
#include "roost/table/shared_search.h"

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
      const Copy entry = copy(key, key + kKeyBytes);
      visit(entry.first, entry.second);
    }
    place_->passed.clear();
    return false;
  }

 private:
  using Layout = typename Shared::Core::Layout;
  using Copy = std::pair<Key, Value>;
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
    const auto& engine = shared_->table().core().engine();
    std::array<Copy, Layout::kSlots> copies;
    size_t count = 0;
    engine.placement().access().read_whole(bucket, [&] {
      count = 0;
      copy_bucket(engine, bucket, [&](const std::byte* key, const std::byte* value) {
        copies[count++] = copy(key, value);
      });
    });
    for (size_t i = 0; i < count; ++i) visit(copies[i].first, copies[i].second);
  }

  [[nodiscard]] static Copy copy(const std::byte* key, const std::byte* value) {
    Copy copy{};
    std::memcpy(&copy.first, key, sizeof(Key));
    if constexpr (kValueBytes != 0) std::memcpy(&copy.second, value, kValueBytes);
    return copy;
  }

  Shared* shared_;
  std::unique_ptr<WalkPlace> place_;
  uint64_t next_ = 0;
  bool is_over_ = false;
};

}  // namespace roost

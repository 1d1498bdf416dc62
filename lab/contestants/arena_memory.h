// Memory for maps that take an allocator: their tables and their nodes come from arenas on the
// pages that every contestant is on.
//
// The standard's pool hands out nodes and takes them back; what it asks for itself, and whatever is
// large, comes from arenas. A large piece has an arena of its own, which goes when it is given
// back, so that an outgrown table does not count; small ones share arenas that are never larger
// than an eighth of what was taken before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>

#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// Not for several threads.
class ArenaResource : public std::pmr::memory_resource {
 public:
  explicit ArenaResource(PageKind pages) : pages_(pages) {}

  // Of all arenas, whole pages.
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kSharedBytesMin = size_t{2} << 20;
  static constexpr size_t kOwnBytesMin = size_t{16} << 20;  // of a piece with its own arena

  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes >= kOwnBytesMin) return map(bytes);
    void* piece = next_;
    if (next_ == nullptr || std::align(alignment, bytes, piece, left_) == nullptr) {
      left_ = std::max({bytes, kSharedBytesMin, static_cast<size_t>(bytes_ / 8)});
      piece = map(left_);
    }
    next_ = static_cast<std::byte*>(piece) + bytes;
    left_ -= bytes;
    return piece;
  }

  void do_deallocate(void* piece, size_t bytes, size_t /*alignment*/) override {
    if (bytes < kOwnBytesMin) return;
    const auto arena = arenas_.find(piece);
    bytes_ -= arena->second.bytes();
    arenas_.erase(arena);
  }

  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  void* map(size_t bytes) {
    Result<Arena> arena = Arena::map(bytes, {.pages = pages_});
    if (!arena) throw std::bad_alloc();  // the only way to tell a standard container
    bytes_ += arena.value().bytes();
    void* data = arena.value().data();
    arenas_.emplace(data, std::move(arena).value());
    return data;
  }

  PageKind pages_;
  uint64_t bytes_ = 0;
  std::map<void*, Arena> arenas_;
  std::byte* next_ = nullptr;  // what is left of the newest shared arena
  size_t left_ = 0;
};

// Outlives the maps that take from it.
class ArenaMemory {
 public:
  explicit ArenaMemory(PageKind pages) : arenas_(pages) {}

  [[nodiscard]] std::pmr::memory_resource& resource() { return nodes_; }
  [[nodiscard]] uint64_t bytes() const { return arenas_.bytes(); }

 private:
  static constexpr size_t kNodeBytesMax = 4096;

  ArenaResource arenas_;
  std::pmr::unsynchronized_pool_resource nodes_{
      {.max_blocks_per_chunk = 0, .largest_required_pool_block = kNodeBytesMax}, &arenas_};
};

// What maps take. The older of them ask for everything that allocators once had.
template <class T>
class ArenaAllocator {
 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using pointer = T*;
  using const_pointer = const T*;
  using reference = T&;
  using const_reference = const T&;
  template <class U>
  struct rebind {
    using other = ArenaAllocator<U>;
  };

  explicit ArenaAllocator(ArenaMemory& memory) : resource_(&memory.resource()) {}
  template <class U>
  ArenaAllocator(const ArenaAllocator<U>& other) : resource_(other.resource()) {}

  T* allocate(size_t count) {
    return static_cast<T*>(resource_->allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* data, size_t count) {
    resource_->deallocate(data, count * sizeof(T), alignof(T));
  }
  [[nodiscard]] static size_type max_size() {
    return std::numeric_limits<difference_type>::max() / sizeof(T);
  }
  [[nodiscard]] std::pmr::memory_resource* resource() const { return resource_; }

  friend bool operator==(const ArenaAllocator& a, const ArenaAllocator& b) {
    return a.resource_ == b.resource_;
  }

 private:
  std::pmr::memory_resource* resource_;
};

}  // namespace roost::lab

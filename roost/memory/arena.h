// One zeroed, page-aligned region of memory on the largest pages that fit, owned or borrowed.
//
// A large table costs one TLB miss a line on small pages, so the arena tries 1 GiB pages, 2 MiB
// pages, transparent huge pages and 4 KiB pages, in that order, and says what it got. A kind of
// page is skipped when the region is so small that rounding up to whole pages would add more than
// an eighth. Regions may be of any size the address space holds; nothing depends on DPDK or its
// limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "roost/base/result.h"

namespace roost {

// What stands behind an arena, largest first.
enum class PageKind : uint8_t {
  kHuge1GiB,         // reserved pages of 1 GiB
  kHuge2MiB,         // reserved pages of 2 MiB
  kTransparentHuge,  // asked of the kernel for the region; it may give fewer, see
                     // resident_huge_bytes()
  kSmall,            // the system's ordinary pages
  kBorrowed,         // the caller's memory, whatever it is on
};

// The name used in reports: "1 GiB", "2 MiB", "transparent huge", "4 KiB", "caller's".
[[nodiscard]] std::string_view page_kind_name(PageKind kind);

// Owns its region unless borrowed; movable. One thread creates and destroys it; the bytes are the
// user's.
class Arena {
 public:
  // Maps `bytes` zeroed bytes. With `only`, that kind of page or an error; without, the first that
  // can be had. Memory on small and transparent huge pages is taken from the system when first
  // touched, so a region may be larger than the machine as long as it is used sparsely.
  [[nodiscard]] static Result<Arena> map(uint64_t bytes, std::optional<PageKind> only = {});

  // Uses memory of the caller, who keeps it alive and zeroed at hand-over, aligned to 64 bytes.
  [[nodiscard]] static Result<Arena> borrow(std::span<std::byte> memory);

  Arena(Arena&& from) noexcept;
  Arena& operator=(Arena&& from) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  [[nodiscard]] std::byte* data() const { return data_; }
  // Usable bytes; a whole number of pages unless borrowed.
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] PageKind page_kind() const { return kind_; }

 private:
  Arena(std::byte* data, uint64_t bytes, PageKind kind) : data_(data), bytes_(bytes), kind_(kind) {}
  void release();

  static std::optional<Arena> try_map(uint64_t bytes, PageKind kind);

  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
  PageKind kind_ = PageKind::kBorrowed;
};

// Bytes of the calling process's memory at `data`, up to `bytes`, that the kernel really has on
// huge pages, read from /proc/self/smaps; nothing when it cannot be read. Slow: for reports.
[[nodiscard]] std::optional<uint64_t> resident_huge_bytes(const std::byte* data, uint64_t bytes);

}  // namespace roost

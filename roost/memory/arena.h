// One zeroed, page-aligned region of memory on the largest pages that fit, owned or borrowed.
//
// A large table costs one TLB miss a line on small pages, so the arena tries 1 GiB pages, 2 MiB
// pages, transparent huge pages and 4 KiB pages, in that order, and says what it got. A kind of
// page is skipped when the region is so small that rounding up to whole pages would add more than
// an eighth. A region can be bound to a NUMA node; without that, the system places each page when
// it is first touched. Regions may be of any size the address space holds; nothing depends on DPDK
// or its limits.
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
  kTransparentHuge,  // asked of the kernel for the region; it may give fewer, see read_pages()
  kSmall,            // the system's ordinary pages
  kBorrowed,         // the caller's memory, whatever it is on
};

// The name used in reports: "1 GiB", "2 MiB", "transparent huge", "4 KiB", "caller's".
[[nodiscard]] std::string_view page_kind_name(PageKind kind);

struct ArenaOptions {
  // This kind of page or an error; without, the first kind available.
  std::optional<PageKind> pages = std::nullopt;
  // Every page from this node or an error; without, as the system's policy has it.
  std::optional<unsigned> numa_node = std::nullopt;
};

// Owns its region unless borrowed; movable. One thread creates and destroys it; the bytes are the
// user's.
class Arena {
 public:
  // Maps `bytes` zeroed bytes. Memory on small and transparent huge pages is taken from the system
  // when first touched, so a region may be larger than the machine as long as it is used sparsely.
  // Reserved pages that are bound to a node are taken at once: a node that has too few would
  // otherwise show only as a signal, at the first touch. This needs Linux 5.14.
  [[nodiscard]] static Result<Arena> map(uint64_t bytes, const ArenaOptions& options = {});

  // Uses memory of the caller: alive as long as the arena, zeroed, aligned to 64 bytes.
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
  [[nodiscard]] bool bind_to(unsigned numa_node) const;
  [[nodiscard]] bool take_reserved_pages() const;

  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
  PageKind kind_ = PageKind::kBorrowed;
};

}  // namespace roost
